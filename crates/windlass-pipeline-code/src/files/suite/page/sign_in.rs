//! Tests of signing in: the form itself and the ways round it.

use super::super::case;
use super::Draftsman;
use crate::blueprint::{Component, ComponentKind, Way};

impl Draftsman<'_, '_> {
    pub(super) fn sign_in(&mut self, component: &Component) {
        let registers = component.kind == ComponentKind::SignUp;
        let (function, label, gives) = if registers {
            ("signUp", "Sign up", "{ confirmationNeeded: false }")
        } else {
            ("signIn", "Sign in", "")
        };
        self.auth.insert(function);
        let render = self.render();
        let fill = vec![
            render.clone(),
            format!("const form = screen.getByRole(\"form\", {{ name: \"{label}\" }});"),
            "fireEvent.change(within(form).getByLabelText(\"Email\"), { target: { value: \"ada@example.com\" } });".to_owned(),
            "fireEvent.change(within(form).getByLabelText(\"Password\"), { target: { value: \"correct horse\" } });".to_owned(),
            "fireEvent.submit(form);".to_owned(),
        ];
        let mut lines = vec![format!("vi.mocked({function}).mockResolvedValue({gives});")];
        lines.extend(fill.clone());
        lines.push(format!("await waitFor(() => expect({function}).toHaveBeenCalledWith(\"ada@example.com\", \"correct horse\"));"));
        lines.push("await waitFor(() => expect(goTo).toHaveBeenCalled());".to_owned());
        let trace = self.page.trace.clone();
        self.cases.push(case(
            self.blueprint,
            &trace,
            "takes email and password",
            lines,
        ));
        let mut lines = vec![format!(
            "vi.mocked({function}).mockRejectedValue(new Error(\"That did not work.\"));"
        )];
        lines.extend(fill);
        lines.push("expect((await screen.findByRole(\"alert\")).textContent).toContain(\"That did not work.\");".to_owned());
        lines.push("expect(goTo).not.toHaveBeenCalled();".to_owned());
        self.case("says why it did not work", lines);
    }

    pub(super) fn sign_in_options(&mut self) {
        let render = self.render();
        let trace = self.page.trace.clone();
        for way in self.blueprint.ways.clone() {
            let (what, lines) = match way {
                Way::Provider(id, label) => {
                    self.options.insert("signInWithProvider");
                    (
                        format!("signs in with {label}"),
                        vec![
                            render.clone(),
                            format!(
                                "fireEvent.click(screen.getByRole(\"button\", {{ name: \"Continue with {label}\" }}));"
                            ),
                            format!(
                                "await waitFor(() => expect(signInWithProvider).toHaveBeenCalledWith(\"{id}\"));"
                            ),
                        ],
                    )
                }
                Way::Link => {
                    self.options.insert("sendLink");
                    (
                        "sends a link".to_owned(),
                        vec![
                            "vi.mocked(sendLink).mockResolvedValue();".to_owned(),
                            render.clone(),
                            "fireEvent.change(screen.getByLabelText(\"Email for a link\"), { target: { value: \"ada@example.com\" } });".to_owned(),
                            "fireEvent.submit(screen.getByRole(\"form\", { name: \"Link by email\" }));".to_owned(),
                            "expect(await screen.findByText(\"Check your inbox for the link.\")).toBeTruthy();".to_owned(),
                            "expect(sendLink).toHaveBeenCalledWith(\"ada@example.com\");".to_owned(),
                        ],
                    )
                }
                Way::Code => {
                    self.options.extend(["checkCode", "sendCode"]);
                    (
                        "sends a code and takes it".to_owned(),
                        vec![
                            "vi.mocked(sendCode).mockResolvedValue();".to_owned(),
                            "vi.mocked(checkCode).mockResolvedValue();".to_owned(),
                            render.clone(),
                            "fireEvent.change(screen.getByLabelText(\"Phone number\"), { target: { value: \"+4912345\" } });".to_owned(),
                            "fireEvent.submit(screen.getByRole(\"form\", { name: \"Code by SMS\" }));".to_owned(),
                            "fireEvent.change(await screen.findByRole(\"textbox\", { name: \"Code\" }), { target: { value: \"123456\" } });".to_owned(),
                            "fireEvent.submit(screen.getByRole(\"form\", { name: \"Code\" }));".to_owned(),
                            "await waitFor(() => expect(goTo).toHaveBeenCalled());".to_owned(),
                            "expect(checkCode).toHaveBeenCalledWith(\"+4912345\", \"123456\");".to_owned(),
                        ],
                    )
                }
            };
            self.cases.push(case(self.blueprint, &trace, &what, lines));
        }
    }
}
