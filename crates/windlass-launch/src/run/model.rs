//! Prose by a language model, where the configuration names one. A sentence that says anything its
//! claims do not say keeps the template's words, and so does a page whose rewriting fails.

use std::{collections::BTreeMap, time::Duration};

use futures::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::run::{PaidModels, RunError, Step, StepContext};
use windlass_launch_model::{
    Page, PagePlan, Section, Worker,
    config::Llm,
    repo_url::{Scheme, web_host},
};
use windlass_launch_pages::{
    Draft,
    budget::check_lines,
    gates::RefusedRewrite,
    rewrite::{RefusedSentence, accept_rewrite, prompt},
};
use windlass_ports::{
    LanguageModel, Message, ModelAddress, ModelError, ModelReply, ModelRequest, WireFormat,
};
use windlass_types::{ArtifactRef, Digest, Problem};

use super::{Launch, Tools, clone::Inputs, draft::Sources, record::counted};
use crate::{event, fault};

fn call_id(page: &Page) -> String {
    Digest::of(page.page_id.as_bytes()).short()
}

/// What came of asking for one page.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    /// The page's new text, when it was taken.
    accepted: Option<ArtifactRef>,
    /// Question and answer, for anyone who wants to look.
    record: ArtifactRef,
    /// Why the new text was not taken, or there was none.
    refused: Option<String>,
    /// Sentences in whose place the original stands.
    #[serde(default)]
    refused_sentences: Vec<RefusedSentence>,
    /// Whether there was an answer at all.
    answered: bool,
    prompt_hash: Digest,
    model: String,
    finish_reason: Option<String>,
    prompt_tokens: u64,
    completion_tokens: u64,
    ms: u64,
}

impl Launch<'_> {
    /// The pages of a section that a model has put into better words, by page.
    pub(super) async fn rewritten(
        &mut self,
        section: Section,
        plan: &PagePlan,
        sources: &Sources,
        inputs: &Inputs,
    ) -> Result<BTreeMap<String, ArtifactRef>, RunError> {
        let mut written = BTreeMap::new();
        let Some(llm) = self.tools.accepted.config().llm.clone() else {
            return Ok(written);
        };
        let pages: Vec<&Page> = plan
            .pages
            .iter()
            .filter(|page| page.section == section)
            .collect();
        let mut left = pages.as_slice();
        while !left.is_empty() {
            let free = self.within_model_budget()?;
            let at_once = llm.max_concurrency.max(1).min(free).min(left.len() as u64);
            let (now, later) = left.split_at(usize::try_from(at_once).unwrap_or(left.len()));
            for (page, answer) in self.ask(now, &llm, sources, inputs).await? {
                if let Some(accepted) = answer.accepted {
                    written.insert(page, accepted);
                }
            }
            left = later;
        }
        Ok(written)
    }

    /// How many more calls the budget allows: at least one.
    fn within_model_budget(&self) -> Result<u64, Problem> {
        let budgets = &self.tools.accepted.config().budgets;
        if self.model_calls >= budgets.max_llm_calls {
            let needed = self.model_calls + 1;
            return Err(fault::over_budget(
                "max_llm_calls",
                budgets.max_llm_calls,
                needed,
            ));
        }
        if self.model_tokens > budgets.max_llm_tokens {
            let used = self.model_tokens;
            return Err(fault::over_budget(
                "max_llm_tokens",
                budgets.max_llm_tokens,
                used,
            ));
        }
        Ok(budgets.max_llm_calls - self.model_calls)
    }

    /// Asks about pages, all at once; the answers in the order of the pages.
    async fn ask(
        &mut self,
        pages: &[&Page],
        llm: &Llm,
        sources: &Sources,
        inputs: &Inputs,
    ) -> Result<Vec<(String, Answer)>, RunError> {
        for page in pages {
            let key = format!("llm:{}", page.page_id);
            self.take_up(&key);
            let started = json!({
                "call_id": call_id(page),
                "model": llm.model,
                "page_id": page.page_id,
                "message": format!("{}: asking {}", page.page_id, llm.model),
            });
            self.queue(format!("begun:{key}"), event::LLM_CALL_STARTED, started);
        }
        self.commit().await?;
        let (tools, context) = (&self.tools, self.context);
        let asked = pages.iter().map(|page| {
            let (page, page_id): (&Page, _) = (page, page.page_id.as_str());
            Step::pure(format!("llm:{page_id}")).run(context, move |step| async move {
                let wanted = page_id.to_owned();
                let drafts = sources
                    .draft(tools, &inputs.date, move |page| page.page_id == wanted)
                    .await?;
                let draft = drafts.into_iter().next().ok_or_else(|| {
                    Problem::internal("launch", format!("no page {page_id} is planned"))
                })?;
                tools.rewrite(&step, &draft, llm, &call_id(page)).await
            })
        });
        let answers: Vec<Result<Answer, RunError>> = join_all(asked).await;
        let mut kept = Vec::with_capacity(answers.len());
        for (page, answer) in pages.iter().zip(answers) {
            let answer = answer?;
            self.keep_answer(page, &answer);
            kept.push((page.page_id.clone(), answer));
        }
        self.commit().await?;
        Ok(kept)
    }

    /// What an answer leaves on record.
    fn keep_answer(&mut self, page: &Page, answer: &Answer) {
        let key = format!("llm:{}", page.page_id);
        self.taken_up = self.context.resumptions(&key);
        self.model_calls += 1;
        self.model_tokens += answer.prompt_tokens + answer.completion_tokens;
        self.worked_ms += answer.ms;
        self.index(&answer.record, Worker::Drafter);
        self.note_refused(page, answer);
        let word = match &answer.refused {
            Some(refused) => format!("the original wording stays: {refused}"),
            None => match answer.refused_sentences.len() {
                0 => "rewritten".to_owned(),
                some => format!("rewritten, {} refused", counted(some, "sentence")),
            },
        };
        let data = json!({
            "call_id": call_id(page),
            "model": answer.model,
            "prompt_hash": answer.prompt_hash,
            "tokens": {
                "prompt_tokens": answer.prompt_tokens,
                "completion_tokens": answer.completion_tokens,
                "total_tokens": answer.prompt_tokens + answer.completion_tokens,
            },
            "finish_reason": answer.finish_reason,
            "duration_ms": answer.ms,
            "refused": answer.refused,
            "refused_sentences": answer.refused_sentences,
            "message": format!("{}: {word}", page.page_id),
        });
        let name = if answer.answered {
            event::LLM_CALL_FINISHED
        } else {
            event::LLM_CALL_FAILED
        };
        self.queue(format!("ended:{key}"), name, data);
    }
}

impl Launch<'_> {
    /// What was not taken becomes a finding of the validation.
    fn note_refused(&mut self, page: &Page, answer: &Answer) {
        let of_page = |sentence: &str, why: &str| RefusedRewrite {
            path: page.output_path.clone(),
            sentence: sentence.to_owned(),
            why: why.to_owned(),
        };
        // A model that did not answer has said nothing.
        let whole = answer
            .refused
            .iter()
            .filter(|_| answer.answered && answer.refused_sentences.is_empty());
        let found = whole.map(|why| of_page("", why)).chain(
            answer
                .refused_sentences
                .iter()
                .map(|refused| of_page(&refused.sentence, &refused.why)),
        );
        self.refused_rewrites.extend(found);
    }
}

impl Tools {
    async fn rewrite(
        &self,
        step: &StepContext<'_>,
        draft: &Draft,
        llm: &Llm,
        call_id: &str,
    ) -> Result<Answer, Problem> {
        let asked = prompt(draft);
        let request = ModelRequest {
            temperature: Some(llm.decoding.temperature),
            top_p: llm.decoding.top_p,
            max_tokens: llm.decoding.max_tokens,
            ..ModelRequest::new(vec![
                Message::system(asked.system),
                Message::user(asked.user),
            ])
        };
        let clock = self.engine.upgrade()?.clock.clone();
        let began = clock.now();
        let models = PaidModels::new(step, self.outside.models.as_ref());
        let answered = self.complete(&models, llm, &request).await;
        let took = clock.now().as_millis() - began.as_millis();
        let reply = answered.as_ref().ok();
        let config = self.accepted.config();
        let mut refused_sentences = Vec::new();
        let outcome = match &answered {
            Ok(reply) => accept_rewrite(draft, &reply.text(), &config.product_name)
                .map_err(|error| error.to_string())
                .and_then(|rewrite| {
                    let refused = rewrite.refused.len();
                    refused_sentences = rewrite.refused;
                    if rewrite.taken == 0 && refused > 0 {
                        let sentences = counted(refused, "sentence");
                        return Err(format!("{sentences} did not follow from the claims"));
                    }
                    let page = rewrite.draft;
                    check_lines(&page.output_path, &page.text, &config.budgets)
                        .map(|()| page)
                        .map_err(|spent| spent.to_string())
                }),
            Err(error) => Err(error.to_string()),
        };
        let (accepted, refused) = match outcome {
            Ok(page) => {
                let name = format!("rewritten/{}", draft.output_path);
                let kept = self.keep_text(&name, "text/markdown", page.text).await?;
                (Some(kept), None)
            }
            Err(refused) => (None, Some(refused)),
        };
        let prompt_hash = request.prompt_hash(&llm.model);
        let record = json!({
            "call_id": call_id,
            "page_id": draft.page_id,
            "model": llm.model,
            "prompt_hash": prompt_hash,
            "request": request,
            "reply": reply,
            "refused": refused,
            "refused_sentences": refused_sentences,
        });
        let redacted = self.engine.upgrade()?.redactor.redact_value(record);
        let name = format!("evidence/llm_calls/{call_id}.json");
        let usage = reply.and_then(|reply| reply.usage);
        Ok(Answer {
            accepted,
            record: self.keep_json(&name, &redacted).await?,
            refused,
            refused_sentences,
            answered: reply.is_some(),
            prompt_hash,
            model: reply.map_or_else(|| llm.model.clone(), |reply| reply.model.clone()),
            finish_reason: reply.map(|reply| reply.finish_reason.as_str().to_owned()),
            prompt_tokens: usage.map_or(0, |usage| usage.prompt_tokens),
            completion_tokens: usage.map_or(0, |usage| usage.completion_tokens),
            ms: u64::try_from(took).unwrap_or_default(),
        })
    }

    /// Asks the model, and the other one when it does not answer.
    async fn complete(
        &self,
        models: &dyn LanguageModel,
        llm: &Llm,
        request: &ModelRequest,
    ) -> Result<ModelReply, ModelError> {
        let first = self
            .address(
                &llm.api_base_url,
                &llm.model,
                llm.api_key_env.as_deref(),
                llm.request_timeout_s,
            )
            .map_err(ModelError::InvalidAddress);
        let answered = match first {
            Ok(address) => models.complete(&address, request, None).await,
            Err(error) => Err(error),
        };
        match (answered, &llm.fallback) {
            (Err(_), Some(other)) => {
                let address = self
                    .address(
                        &other.api_base_url,
                        &other.model,
                        other.api_key_env.as_deref(),
                        other.request_timeout_s,
                    )
                    .map_err(ModelError::InvalidAddress)?;
                models.complete(&address, request, None).await
            }
            (answered, _) => answered,
        }
    }

    fn address(
        &self,
        url: &str,
        model: &str,
        variable: Option<&str>,
        seconds: u64,
    ) -> Result<ModelAddress, String> {
        let host = web_host(url, Scheme::HttpToo)?;
        let api_key = match variable {
            Some(variable) => {
                let token = self.outside.tokens.token(variable, &host);
                Some(token.map_err(|error| error.to_string())?)
            }
            None => None,
        };
        Ok(ModelAddress {
            wire: WireFormat::ChatCompletions,
            api_base_url: url.to_owned(),
            model: model.to_owned(),
            api_key,
            request_timeout: Duration::from_secs(seconds),
        })
    }
}
