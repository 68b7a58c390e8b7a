import { databaseError } from "@/lib/errors";
import { {=imports=} } from "@/lib/schemas/{=file=}";
<% if server %>
import type { Client } from "@/server/supabase";
<% else %>
import { getSupabase } from "@/lib/supabase";
<% endif %>
<% if list %>

/** The newest ones that the caller may see. */
export async function {=list.name=}(<% if filters %>{=client_first=}filter: {=type=}Filter = {}<% elif server %>client: Client<% endif %>): Promise<{=type=}[]> {
<% if filters %>
  let query = {=client=}.from({=table|ts=}).select(){=order=}.limit(500);
<% for field in filters %>
  if (filter{=field.access=} !== undefined) {
    query = query.eq({=field.column|ts=}, filter{=field.access=});
  }
<% endfor %>
  const { data, error } = await query;
<% else %>
  const { data, error } = await {=client=}.from({=table|ts=}).select(){=order=}.limit(500);
<% endif %>
  if (error) {
    throw databaseError(error);
  }
  return {=camel=}Schema.array().parse(data);
}
<% endif %>
<% if read %>

export async function {=read.name=}({=client_first=}id: string): Promise<{=type=}> {
  const { data, error } = await {=client=}.from({=table|ts=}).select().eq({=key.column|ts=}, {=key.value=}).single();
  if (error) {
    throw databaseError(error);
  }
  return {=camel=}Schema.parse(data);
}
<% endif %>
<% if create %>

export async function {=create.name=}({=client_first=}input: {=type=}Create): Promise<{=type=}> {
  const { data, error } = await {=client=}.from({=table|ts=}).insert(input).select().single();
  if (error) {
    throw databaseError(error);
  }
  return {=camel=}Schema.parse(data);
}
<% endif %>
<% if update %>

export async function {=update.name=}({=client_first=}id: string, changes: {=type=}Update): Promise<{=type=}> {
  const { data, error } = await {=client=}.from({=table|ts=}).update(changes).eq({=key.column|ts=}, {=key.value=}).select().single();
  if (error) {
    throw databaseError(error);
  }
  return {=camel=}Schema.parse(data);
}
<% endif %>
<% if delete %>

export async function {=delete.name=}({=client_first=}id: string): Promise<void> {
  const { error } = await {=client=}.from({=table|ts=}).delete().eq({=key.column|ts=}, {=key.value=}).select({=key.column|ts=}).single();
  if (error) {
    throw databaseError(error);
  }
}
<% endif %>
<% for action in actions %>

/** {=action.about|comment=} */
export async function {=action.name=}({=client_first=}id: string<% if action.input %>, input: {=action.input=}<% endif %>): Promise<{=type=}> {
<% if action.changes %>
  const { data, error } = await {=client=}
    .from({=table|ts=})
    .update({ {=action.changes=} })
    .eq({=key.column|ts=}, {=key.value=})
    .select()
    .single();
  if (error) {
    throw databaseError(error);
  }
  return {=camel=}Schema.parse(data);
<% else %>
  const item = await {=read.name=}({=client_argument=}id);
  const { error } = await {=client=}
    .from("recorded_actions")
    .insert({ subject_table: {=table|ts=}, subject_id: id, action: {=action.verb|ts=} });
  if (error) {
    throw databaseError(error);
  }
  return item;
<% endif %>
}
<% endfor %>
