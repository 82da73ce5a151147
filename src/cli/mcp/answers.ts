// Answers as texts of at most so many bytes. What is in a table was written by others: a page is asked for again with fewer rows
// until it fits, and an item that is too large alone is told of by its size. It is never cut: a model would write back the half.
import type { AskOperation } from './tool.js'

/** Longer than any answer may be. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/**
 * As JSON. Characters that are not seen (controls, directions, joiners, tags) are written as their escapes: the same text to a
 * parser, and no hidden one to a reader.
 */
export const answerText = (answer: unknown): string =>
  JSON.stringify(answer, undefined, 1).replaceAll(UNSEEN, (found) =>
    [...Array(found.length).keys()]
      .map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )

const UNSEEN =
  // oxlint-disable-next-line no-misleading-character-class
  /[\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|\udb40[\udc00-\udfff]/g

export const bytesOf = (text: string): number => Buffer.byteLength(text)

/** Of an answer that has no pages. */
export function wholeAnswer(answer: unknown, bytesMax: number, hint: string): string {
  const text = answerText(answer)
  const bytes = bytesOf(text)
  if (bytes <= bytesMax) return text
  throw new AnswerTooLarge(`The answer has ${bytes} bytes, and ${bytesMax} are allowed. ${hint}`)
}

export interface AnswerPage {
  readonly operation: string
  readonly input: Readonly<Record<string, unknown>>
  /** The member of the answer that has the rows. */
  readonly rows: 'Items' | 'Revisions' | 'InFlight'
  readonly rowsMax: number
  readonly bytesMax: number
}

/** At most ten requests, of at most twice the rows that are answered last. */
export async function pageAnswer(ask: AskOperation, page: AnswerPage): Promise<string> {
  let rowsMax = page.rowsMax
  for (;;) {
    const answer = (await ask(page.operation, { ...page.input, Limit: rowsMax })) as PageAnswer
    const text = answerText(answer)
    if (bytesOf(text) <= page.bytesMax) return text
    const rows = answer[page.rows] ?? []
    if (rowsMax === 1)
      return wholeAnswer(
        { ...answer, [page.rows]: [], LeftOut: rows.map(sizesOf) },
        page.bytesMax,
        'Ask for fewer attributes.',
      )
    const looked = answer.ScannedCount ?? rows.length
    rowsMax = Math.max(1, Math.floor(Math.min(rowsMax, Math.max(looked, 1)) / 2))
  }
}

interface PageAnswer {
  readonly ScannedCount?: number
  readonly Items?: readonly object[]
  readonly Revisions?: readonly object[]
  readonly InFlight?: readonly object[]
}

const NAMES_MAX = 50
const NAME_CHARACTERS_MAX = 100

/** Instead of a row that is too large: how large its attributes are, the largest first. */
export function sizesOf(row: object): object {
  const sizes = Object.entries(row).map(([name, value]) => ({
    Attribute: name.slice(0, NAME_CHARACTERS_MAX),
    Bytes: bytesOf(JSON.stringify(value)),
  }))
  return {
    TooLarge: true,
    Bytes: bytesOf(JSON.stringify(row)),
    AttributeCount: sizes.length,
    Largest: sizes.toSorted((a, b) => b.Bytes - a.Bytes).slice(0, NAMES_MAX),
  }
}
