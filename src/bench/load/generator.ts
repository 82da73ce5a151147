// The process of the load generator: takes jobs one at a time from the process that started it, and ends with it.
import { messageOf } from '../../model/message-of.js'
import { load, type LoadJob, type LoadResult } from './load.js'

export type GeneratorMessage =
  | { readonly kind: 'measuring' }
  | { readonly kind: 'done'; readonly result: LoadResult }
  | { readonly kind: 'failed'; readonly reason: string }

const tell = (message: GeneratorMessage): void => {
  process.send?.(message)
}

process.on('message', (job: LoadJob) => {
  load(job, () => tell({ kind: 'measuring' })).then(
    (result) => tell({ kind: 'done', result }),
    (error: unknown) => tell({ kind: 'failed', reason: messageOf(error) }),
  )
})
process.on('disconnect', () => process.exit())
