import { request } from "@/lib/http";
import { {=imports=} } from "@/lib/schemas/{=file=}";
<% if list %>

/** The newest ones that the signed-in user may see. */
export async function {=list.name=}(<% if filters %>filter: {=type=}Filter = {}<% endif %>): Promise<{=type=}[]> {
  return {=camel=}Schema.array().parse(await request({=list.path=}<% if filters %>, { query: filter }<% endif %>));
}
<% endif %>
<% if read %>

export async function {=read.name=}(id: string): Promise<{=type=}> {
  return {=camel=}Schema.parse(await request({=read.path=}));
}
<% endif %>
<% if create %>

export async function {=create.name=}(input: {=type=}Create): Promise<{=type=}> {
  return {=camel=}Schema.parse(await request({=create.path=}, { method: "POST", body: input }));
}
<% endif %>
<% if update %>

export async function {=update.name=}(id: string, changes: {=type=}Update): Promise<{=type=}> {
  return {=camel=}Schema.parse(await request({=update.path=}, { method: "PATCH", body: changes }));
}
<% endif %>
<% if delete %>

export async function {=delete.name=}(id: string): Promise<void> {
  await request({=delete.path=}, { method: "DELETE" });
}
<% endif %>
<% for action in actions %>

/** {=action.about|comment=} */
export async function {=action.name=}(id: string<% if action.input %>, input: {=action.input=}<% endif %>): Promise<{=type=}> {
  return {=camel=}Schema.parse(await request({=action.path=}, { method: "POST"<% if action.input %>, body: input<% endif %> }));
}
<% endfor %>
