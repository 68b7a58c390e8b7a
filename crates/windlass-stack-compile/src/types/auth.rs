//! User pools: the pool, its client, its pages for signing in, others that vouch for users.

use serde_json::{Map, Value, json};
use windlass_stack_config::model::auth::{
    AttributeType, IdentityProvider, IdentityProviderType, MfaStatus, MfaType, OAuthFlow,
    UserAttribute, UserAuthPool, UserPoolHooks, UserVerification,
};
use windlass_stack_config::{Runtime, Text};

use crate::cf::{attribute, join, reference, sub};
use crate::connect::allow;
use crate::name::logical;
use crate::stack::Stack;
use crate::text::Tie;

impl Stack<'_> {
    pub fn user_auth_pool(&mut self, name: &str, it: &UserAuthPool) {
        let pool = logical(&[name, "UserPool"]);
        let verification = it.user_verification_type;
        let by_email = matches!(
            verification,
            Some(UserVerification::EmailCode | UserVerification::EmailLink)
        ) || it.require_email_verification == Some(true);
        let by_sms = verification == Some(UserVerification::Sms)
            || it.require_phone_number_verification == Some(true);
        let mfa = it.mfa_configuration.as_ref();
        let factors = mfa
            .map(|it| it.enabled_types.as_slice())
            .unwrap_or_default();
        let sends_sms = by_sms || factors.contains(&MfaType::Sms);
        let hooks = it
            .hooks
            .as_ref()
            .map(|hooks| self.pool_hooks(name, &pool, hooks));
        let mut verified = Vec::new();
        if by_email {
            verified.push("email");
        }
        if by_sms {
            verified.push("phone_number");
        }
        let mut aliases = Vec::new();
        if it.allow_email_as_user_name {
            aliases.push("email");
        }
        if it.allow_phone_number_as_user_name {
            aliases.push("phone_number");
        }
        if factors.contains(&MfaType::EmailOtp)
            && it
                .email_configuration
                .as_ref()
                .is_none_or(|it| it.ses_address_arn.is_none())
        {
            self.refuse(
                "emailConfiguration.sesAddressArn",
                "one-time passwords by e-mail need a sender of SES",
                Some("give sesAddressArn"),
            );
        }
        if mfa.is_some_and(|it| it.status != MfaStatus::Off) && factors.is_empty() {
            self.refuse(
                "mfaConfiguration.enabledTypes",
                "no second factor is named",
                Some("name SOFTWARE_TOKEN, SMS or EMAIL_OTP"),
            );
        }
        let email = it.email_configuration.as_ref().map(|email| {
            json!({
                "EmailSendingAccount": if email.ses_address_arn.is_some() { "DEVELOPER" } else { "COGNITO_DEFAULT" },
                "SourceArn": self.maybe(email.ses_address_arn.as_ref()),
                "From": self.maybe(email.from.as_ref()),
                "ReplyToEmailAddress": self.maybe(email.reply_to_email_address.as_ref()),
            })
        });
        let sms = sends_sms.then(|| self.sms_role(name));
        let invite = it.invite_message_config.as_ref().map(|it| {
            json!({
                "EmailMessage": it.email_message,
                "EmailSubject": it.email_subject,
                "SMSMessage": it.sms_message,
            })
        });
        let messages = it.user_verification_message_config.as_ref();
        let template = (verification.is_some() || messages.is_some()).then(|| {
            json!({
                "DefaultEmailOption": if verification == Some(UserVerification::EmailLink) {
                    "CONFIRM_WITH_LINK"
                } else {
                    "CONFIRM_WITH_CODE"
                },
                "EmailMessage": messages.and_then(|it| it.email_message_using_code.clone()),
                "EmailSubject": messages.and_then(|it| it.email_subject_using_code.clone()),
                "EmailMessageByLink": messages.and_then(|it| it.email_message_using_link.clone()),
                "EmailSubjectByLink": messages.and_then(|it| it.email_subject_using_link.clone()),
                "SmsMessage": messages.and_then(|it| it.sms_message.clone()),
            })
        });
        let policy = it.password_policy.as_ref().map(|it| {
            json!({
                "PasswordPolicy": {
                    "MinimumLength": it.minimum_length,
                    "RequireLowercase": it.require_lowercase,
                    "RequireNumbers": it.require_numbers,
                    "RequireSymbols": it.require_symbols,
                    "RequireUppercase": it.require_uppercase,
                    "TemporaryPasswordValidityDays": it.temporary_password_validity_days,
                }
            })
        });
        // The pool has one setting for both: the password of an invitation, or the account.
        let validity = it
            .password_policy
            .as_ref()
            .and_then(|it| it.temporary_password_validity_days)
            .is_none()
            .then_some(it.unused_account_validity_days);
        let mut policy = policy.unwrap_or_else(|| json!({ "PasswordPolicy": {} }));
        if let Some(days) = validity {
            policy["PasswordPolicy"]["TemporaryPasswordValidityDays"] = json!(days);
        }
        if policy["PasswordPolicy"]["MinimumLength"].is_null() {
            policy["PasswordPolicy"]["MinimumLength"] = json!(8);
        }
        let schema: Vec<Value> = it.schema.iter().map(user_attribute).collect();
        self.add(
            &pool,
            "AWS::Cognito::UserPool",
            json!({
                "UserPoolName": self.physical(name, 128),
                "AdminCreateUserConfig": {
                    "AllowAdminCreateUserOnly": it.allow_only_admins_to_create_account,
                    "InviteMessageTemplate": invite,
                },
                "AutoVerifiedAttributes": (!verified.is_empty()).then_some(verified),
                "UsernameAttributes": (!aliases.is_empty()).then_some(aliases),
                "UsernameConfiguration": { "CaseSensitive": false },
                "Policies": policy,
                "Schema": (!schema.is_empty()).then_some(schema),
                "MfaConfiguration": mfa.map(|it| match it.status {
                    MfaStatus::Off => "OFF",
                    MfaStatus::On => "ON",
                    MfaStatus::Optional => "OPTIONAL",
                }),
                "EnabledMfas": (!factors.is_empty()).then(|| {
                    factors.iter().map(|factor| match factor {
                        MfaType::EmailOtp => "EMAIL_OTP",
                        MfaType::Sms => "SMS_MFA",
                        MfaType::SoftwareToken => "SOFTWARE_TOKEN_MFA",
                    }).collect::<Vec<_>>()
                }),
                "EmailConfiguration": email,
                "SmsConfiguration": sms,
                "VerificationMessageTemplate": template,
                "LambdaConfig": hooks,
            }),
        )
        .on_removal("Delete");
        self.pool_client(name, &pool, it);
        self.pool_domain(name, &pool, it);
    }

    fn pool_client(&mut self, name: &str, pool: &str, it: &UserAuthPool) {
        let mut providers: Vec<Value> = Vec::new();
        if !it.allow_only_external_identity_providers {
            providers.push(json!("COGNITO"));
        }
        let mut before = Vec::new();
        for provider in &it.identity_providers {
            let id = self.identity_provider(name, pool, provider);
            providers.push(json!(provider_name(provider.kind)));
            before.push(id);
        }
        if providers.is_empty() {
            self.refuse(
                "allowOnlyExternalIdentityProviders",
                "nobody could sign in",
                Some("name identityProviders"),
            );
        }
        let callbacks = self.texts(&it.callback_urls);
        let logouts = self.texts(&it.logout_urls);
        let uses_oauth = !callbacks.is_empty();
        if it.allowed_oauth_flows.is_some() && !uses_oauth {
            self.refuse(
                "allowedOAuthFlows",
                "OAuth flows end at an address, and none is given",
                Some("give callbackURLs"),
            );
        }
        let flows: Vec<&str> = match &it.allowed_oauth_flows {
            Some(flows) => flows
                .iter()
                .map(|flow| match flow {
                    OAuthFlow::ClientCredentials => "client_credentials",
                    OAuthFlow::Code => "code",
                    OAuthFlow::Implicit => "implicit",
                })
                .collect(),
            None => vec!["code"],
        };
        let scopes = it
            .allowed_oauth_scopes
            .clone()
            .unwrap_or_else(|| ["email", "openid", "profile"].map(str::to_owned).into());
        let units = json!({
            "AccessToken": it.access_token_validity_seconds.map(|_| "seconds"),
            "IdToken": it.id_token_validity_seconds.map(|_| "seconds"),
            "RefreshToken": it.refresh_token_validity_days.map(|_| "days"),
        });
        let units = crate::cf::without_nulls(units);
        let part = self.add(
            logical(&[name, "UserPoolClient"]),
            "AWS::Cognito::UserPoolClient",
            json!({
                "UserPoolId": reference(pool),
                "GenerateSecret": it.generate_client_secret,
                "PreventUserExistenceErrors": "ENABLED",
                "ExplicitAuthFlows": [
                    "ALLOW_CUSTOM_AUTH",
                    "ALLOW_REFRESH_TOKEN_AUTH",
                    "ALLOW_USER_PASSWORD_AUTH",
                    "ALLOW_USER_SRP_AUTH",
                ],
                "SupportedIdentityProviders": providers,
                "AllowedOAuthFlowsUserPoolClient": uses_oauth.then_some(true),
                "AllowedOAuthFlows": uses_oauth.then_some(flows),
                "AllowedOAuthScopes": uses_oauth.then_some(scopes),
                "CallbackURLs": uses_oauth.then_some(callbacks),
                "LogoutURLs": (!logouts.is_empty()).then_some(logouts),
                "AccessTokenValidity": it.access_token_validity_seconds,
                "IdTokenValidity": it.id_token_validity_seconds,
                "RefreshTokenValidity": it.refresh_token_validity_days,
                "TokenValidityUnits": (units != json!({})).then_some(units),
            }),
        );
        before.into_iter().for_each(|id| {
            part.after(id);
        });
        if it.allowed_oauth_scopes.is_some() && !uses_oauth {
            self.refuse(
                "allowedOAuthScopes",
                "scopes belong to OAuth flows, and no address is given for those",
                Some("give callbackURLs"),
            );
        }
    }

    fn pool_domain(&mut self, name: &str, pool: &str, it: &UserAuthPool) {
        for (property, is_given) in [
            ("hostedUiDomainPrefix", it.hosted_ui_domain_prefix.is_some()),
            ("hostedUiCSS", it.hosted_ui_css.is_some()),
        ] {
            if is_given && !it.enable_hosted_ui {
                self.refuse(
                    property,
                    "there are no pages for signing in",
                    Some("set enableHostedUi: true"),
                );
            }
        }
        let id = logical(&[name, "UserPoolDomain"]);
        if let Some(custom) = &it.custom_domain {
            let domains = self.domains(std::slice::from_ref(custom), "customDomain");
            for domain in &domains {
                let certificate = self.certificate(domain, "customDomain");
                self.check_global_certificate(&certificate, "customDomain.customCertificateArn");
                self.add(
                    &id,
                    "AWS::Cognito::UserPoolDomain",
                    json!({
                        "UserPoolId": reference(pool),
                        "Domain": domain.name,
                        "CustomDomainConfig": { "CertificateArn": certificate },
                    }),
                );
                self.dns_record(
                    domain,
                    "customDomain",
                    attribute(&id, "CloudFrontDistribution"),
                    json!(crate::cdn::ZONE),
                );
            }
        } else if it.enable_hosted_ui {
            let prefix = self.hosted_prefix(name, it);
            self.add(
                &id,
                "AWS::Cognito::UserPoolDomain",
                json!({ "UserPoolId": reference(pool), "Domain": prefix }),
            );
        }
        if let Some(css) = it.hosted_ui_css.as_ref().filter(|_| it.enable_hosted_ui) {
            self.add(
                logical(&[name, "UserPoolUICustomizationAttachment"]),
                "AWS::Cognito::UserPoolUICustomizationAttachment",
                json!({ "UserPoolId": reference(pool), "ClientId": "ALL", "CSS": css }),
            )
            .after(id);
        }
    }

    fn hosted_prefix(&self, name: &str, it: &UserAuthPool) -> String {
        match &it.hosted_ui_domain_prefix {
            Some(prefix) => prefix.clone(),
            None => self.physical_plain(name, 63),
        }
    }

    fn identity_provider(&mut self, name: &str, pool: &str, it: &IdentityProvider) -> String {
        let id = logical(&[name, provider_name(it.kind), "UserPoolIdentityProvider"]);
        let mut details: Map<String, Value> = Map::new();
        details.insert("client_id".to_owned(), self.text(&it.client_id));
        details.insert("client_secret".to_owned(), self.text(&it.client_secret));
        if !it.authorize_scopes.is_empty() {
            let between = if it.kind == IdentityProviderType::Facebook {
                ","
            } else {
                " "
            };
            let scopes = it.authorize_scopes.join(between);
            details.insert("authorize_scopes".to_owned(), json!(scopes));
        }
        for (key, value) in &it.provider_details {
            let value = self.data(value, Tie::Firm);
            details.insert(key.clone(), value);
        }
        self.add(
            &id,
            "AWS::Cognito::UserPoolIdentityProvider",
            json!({
                "UserPoolId": reference(pool),
                "ProviderName": provider_name(it.kind),
                "ProviderType": provider_name(it.kind),
                "ProviderDetails": details,
                "AttributeMapping": (!it.attribute_mapping.is_empty()).then_some(&it.attribute_mapping),
            }),
        );
        id
    }

    /// Functions are referred to by their names: they may use the pool they take part in.
    fn pool_hooks(&mut self, name: &str, pool: &str, hooks: &UserPoolHooks) -> Value {
        let all: [(&str, &str, &Option<Text>); 10] = [
            ("CustomMessage", "customMessage", &hooks.custom_message),
            (
                "PostAuthentication",
                "postAuthentication",
                &hooks.post_authentication,
            ),
            (
                "PostConfirmation",
                "postConfirmation",
                &hooks.post_confirmation,
            ),
            (
                "PreAuthentication",
                "preAuthentication",
                &hooks.pre_authentication,
            ),
            ("PreSignUp", "preSignUp", &hooks.pre_sign_up),
            (
                "PreTokenGeneration",
                "preTokenGeneration",
                &hooks.pre_token_generation,
            ),
            ("UserMigration", "userMigration", &hooks.user_migration),
            (
                "CreateAuthChallenge",
                "createAuthChallenge",
                &hooks.create_auth_challenge,
            ),
            (
                "DefineAuthChallenge",
                "defineAuthChallenge",
                &hooks.define_auth_challenge,
            ),
            (
                "VerifyAuthChallengeResponse",
                "verifyAuthChallengeResponse",
                &hooks.verify_auth_challenge_response,
            ),
        ];
        let mut config = Map::new();
        for (key, property, hook) in all {
            let Some(hook) = hook else { continue };
            let (called, target) = match hook.runtime() {
                Some(Runtime::ResourceParam { resource, .. }) => (
                    self.function_by_name(resource),
                    self.function_target(resource),
                ),
                _ => (self.text(hook), self.text(hook)),
            };
            config.insert(key.to_owned(), called);
            self.permit(
                &logical(&[name, property, "Permission"]),
                &target,
                "cognito-idp.amazonaws.com",
                Some(attribute(pool, "Arn")),
            );
        }
        Value::Object(config)
    }

    fn sms_role(&mut self, name: &str) -> Value {
        let id = logical(&[name, "SendSms", "Role"]);
        let external = self.physical(name, 128);
        let mut statement = json!({
            "Effect": "Allow",
            "Principal": { "Service": "cognito-idp.amazonaws.com" },
            "Action": "sts:AssumeRole",
        });
        statement["Condition"] = json!({ "StringEquals": { "sts:ExternalId": external } });
        self.add(
            &id,
            "AWS::IAM::Role",
            json!({
                "AssumeRolePolicyDocument": crate::shared::policy(vec![statement]),
                "Policies": [{
                    "PolicyName": "windlass",
                    // Text messages go to phone numbers, which are no resources.
                    "PolicyDocument": crate::shared::policy(vec![allow(&["sns:Publish"], vec![json!("*")])]),
                }],
            }),
        );
        json!({ "SnsCallerArn": attribute(&id, "Arn"), "ExternalId": external })
    }

    pub fn user_pool_param(&mut self, name: &str, it: &UserAuthPool, param: &str) -> Option<Value> {
        let pool = logical(&[name, "UserPool"]);
        let client = logical(&[name, "UserPoolClient"]);
        Some(match param {
            "id" => reference(&pool),
            "arn" => attribute(&pool, "Arn"),
            "clientId" => reference(&client),
            "clientSecret" => attribute(&client, "ClientSecret"),
            "providerUrl" => attribute(&pool, "ProviderURL"),
            "domain" => match &it.custom_domain {
                Some(custom) => self.loose(&custom.domain_name),
                None => join([
                    json!(self.hosted_prefix(name, it)),
                    sub(".auth.${AWS::Region}.amazoncognito.com"),
                ]),
            },
            _ => return None,
        })
    }
}

fn provider_name(kind: IdentityProviderType) -> &'static str {
    match kind {
        IdentityProviderType::Facebook => "Facebook",
        IdentityProviderType::Google => "Google",
        IdentityProviderType::LoginWithAmazon => "LoginWithAmazon",
        IdentityProviderType::Oidc => "OIDC",
        IdentityProviderType::Saml => "SAML",
        IdentityProviderType::SignInWithApple => "SignInWithApple",
    }
}

fn user_attribute(it: &UserAttribute) -> Value {
    let kind = it.attribute_data_type.map(|kind| match kind {
        AttributeType::Boolean => "Boolean",
        AttributeType::DateTime => "DateTime",
        AttributeType::Number => "Number",
        AttributeType::String => "String",
    });
    let numbers = crate::cf::without_nulls(json!({
        "MinValue": it.number_min_value.map(|value| value.to_string()),
        "MaxValue": it.number_max_value.map(|value| value.to_string()),
    }));
    let texts = crate::cf::without_nulls(json!({
        "MinLength": it.string_min_length.map(|value| value.to_string()),
        "MaxLength": it.string_max_length.map(|value| value.to_string()),
    }));
    json!({
        "Name": it.name,
        "AttributeDataType": kind.unwrap_or("String"),
        "DeveloperOnlyAttribute": it.developer_only_attribute,
        "Mutable": it.mutable,
        "Required": it.required,
        "NumberAttributeConstraints": (numbers != json!({})).then_some(numbers),
        "StringAttributeConstraints": (texts != json!({})).then_some(texts),
    })
}
