/** What every page needs to know about the whole. */
type Site = { name: string; signInPath: string | null; navigation: { href: string; label: string }[] };

export const site: Site = {
  name: {=name|ts=},
  signInPath: {=sign_in=},
  navigation: [
<% for item in navigation %>
    { href: {=item.href|ts=}, label: {=item.label|ts=} },
<% endfor %>
  ],
};
