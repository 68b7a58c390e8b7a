/** The database as TypeScript sees it, from the same model as the SQL migration. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export type Database = {
  public: {
    Tables: {
<% for table in tables %>
      {=table.key=}: {
        Row: {
<% for field in table.fields %>
          {=field.key=}: {=field.type=};
<% endfor %>
        };
        Insert: {
<% for field in table.inserts %>
          {=field.key=}<% if field.optional %>?<% endif %>: {=field.type=};
<% endfor %>
        };
        Update: {
<% for field in table.inserts %>
          {=field.key=}?: {=field.type=};
<% endfor %>
        };
        Relationships: [];
      };
<% endfor %>
    };
    Views: Record<never, never>;
    Functions: Record<never, never>;
    Enums: Record<never, never>;
    CompositeTypes: Record<never, never>;
  };
};
