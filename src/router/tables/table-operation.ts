// What the operations on tables share: they need the whole catalogue, not only its look-up.
import { TableCatalog } from './catalog/catalog.js'
import type { Operation, RequestScope, RouterContext } from '../request/context.js'
import type { Reply } from '../request/router.js'
import { withoutNulls } from './record/table-shapes.js'

export interface TableOperation<In> extends Omit<Operation, 'run'> {
  readonly run: (
    catalog: TableCatalog,
    input: In,
    scope: RequestScope,
    context: RouterContext,
  ) => Reply | Promise<Reply>
}

export function tableOperation<In>({ run, ...operation }: TableOperation<In>): Operation {
  return {
    ...operation,
    async run(context, input, scope) {
      const { catalog } = context
      if (!(catalog instanceof TableCatalog)) throw new TypeError('this catalogue cannot change tables')
      return run(catalog, withoutNulls(input) as In, scope, context)
    },
  }
}
