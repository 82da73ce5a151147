// PartiQL's words on top of SQL's grammar.
import { SQLDialect, sql } from '@codemirror/lang-sql'

const dialect = SQLDialect.define({
  keywords:
    'select from where insert into value values update set remove delete returning all old new modified and or not in between is exists limit order by asc desc explain',
  builtin: 'begins_with contains attribute_type size list_append set_add set_delete',
  types: 'missing null true false',
  doubleQuotedStrings: false,
})

export const PartiQLish = sql({ dialect })
