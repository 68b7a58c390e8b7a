import { z } from "zod";

/** {=label|comment=}: a row of {=table|comment=}. */
export const {=camel=}Schema = z.object({
<% for field in fields %>
  {=field.key=}: {=field.row=},
<% endfor %>
});

export type {=type=} = z.infer<typeof {=camel=}Schema>;
<% if key %>

export const {=camel=}IdSchema = {=key.schema=};
<% endif %>
<% if writes %>

/** What may be given when one is made. Everything else, the owner included, is set by the database. */
export const {=camel=}CreateSchema = z.strictObject({
<% for field in inputs %>
  {=field.key=}: {=field.create=},
<% endfor %>
});

export type {=type=}Create = z.infer<typeof {=camel=}CreateSchema>;
<% endif %>
<% if updates %>

export const {=camel=}UpdateSchema = {=camel=}CreateSchema.partial();

export type {=type=}Update = z.infer<typeof {=camel=}UpdateSchema>;
<% endif %>
<% if filters %>

/** What a list can be narrowed to. */
export const {=camel=}FilterSchema = z.strictObject({
<% for field in filters %>
  {=field.key=}: z.uuid().optional(),
<% endfor %>
});

export type {=type=}Filter = z.infer<typeof {=camel=}FilterSchema>;
<% endif %>
<% for action in actions %>

export const {=action.camel=}Schema = z.strictObject({
<% for field in action.fields %>
  {=field.key=}: {=field.create=},
<% endfor %>
});

export type {=action.type=}Input = z.infer<typeof {=action.camel=}Schema>;
<% endfor %>
