// A writer that has one batch at a time for a journal, and waits for it.
import type { FrameContent } from '../../src/journal/frame.js'
import type { Journal, JournalShare } from '../../src/journal/journal.js'

export interface TestWriter {
  readonly share: JournalShare
  /** Resolves to the offset after the batch. */
  append(content: FrameContent): Promise<number>
}

export function writerOf(journal: Journal, number = 0): TestWriter {
  let content: FrameContent | undefined
  let settle: { resolve: (end: number) => void; reject: (error: Error) => void } | undefined
  const share = journal.join(number, {
    take: () => content ?? EMPTY,
    written: (end) => settle?.resolve(end),
    failed: (error) => settle?.reject(error),
  })
  return {
    share,
    append: async (next) => {
      content = next
      try {
        return await new Promise<number>((resolve, reject) => {
          settle = { resolve, reject }
          share.hurry()
        })
      } finally {
        content = undefined
        settle = undefined
      }
    },
  }
}

const EMPTY: FrameContent = { timestamp: 0, lsn: 0, changes: new Map() } as unknown as FrameContent
