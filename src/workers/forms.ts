// Leaner forms of what is sent most: what both sides know of a value (which members it may have, and of what kind) is not sent.
// The compiler sees to it that a form names every member of its type.
import type { KeyBytes } from '../model/brand.js'
import type { ItemKey } from '../model/table.js'
import type { ItemRecord } from '../rules/item/item.js'
import type { ValueReader, ValueWriter } from './values.js'

/** One kind of value, written and read. */
export interface Form<T> {
  readonly write: (writer: ValueWriter, value: T) => void
  readonly read: (reader: ValueReader) => T
}

/** As it is, with all that is known of it beside. */
export const anything = <T>(): Form<T> => ({
  write: (writer, value) => writer.value(value),
  read: (reader) => reader.value() as T,
})

/** The same object from request to request: sent once. */
export const recurring = <T extends object>(): Form<T> => ({
  write: (writer, value) => writer.recurring(value),
  read: (reader) => reader.value() as T,
})

export const number = <T extends number>(): Form<T> => ({
  write: ({ out }, value) => out.f64(value),
  read: ({ in: bytes }) => bytes.f64() as T,
})

export const flag = <T extends boolean>(): Form<T> => ({
  write: ({ out }, value) => out.u8(value ? 1 : 0),
  read: ({ in: bytes }) => (bytes.u8() === 1) as T,
})

/** Whose characters are bytes. */
export const latin1 = <T extends string>(): Form<T> => ({
  write: ({ out }, value) => out.latin1(value),
  read: ({ in: bytes }) => bytes.latin1() as T,
})

/** One of a few words. */
export function word<const T extends string>(words: readonly T[]): Form<T> {
  return {
    write: ({ out }, value) => out.u8(words.indexOf(value)),
    read: ({ in: bytes }) => words[bytes.u8()] as T,
  }
}

export const keyForm: Form<ItemKey> = {
  write: ({ out }, { hash, bytes }) => {
    out.u32(hash)
    out.latin1(bytes)
  },
  read: ({ in: bytes }) => ({ hash: bytes.u32(), bytes: bytes.latin1() as KeyBytes }),
}

export const recordForm: Form<ItemRecord> = {
  write: (writer, value) => writer.record(value),
  read: (reader) => reader.record(),
}

export function optional<T>({ write, read }: Form<T>): Form<T | undefined> {
  return {
    write: (writer, value) => {
      writer.out.u8(value === undefined ? 0 : 1)
      if (value !== undefined) write(writer, value)
    },
    read: (reader) => (reader.in.u8() === 0 ? undefined : read(reader)),
  }
}

export function list<T>({ write, read }: Form<T>): Form<readonly T[]> {
  return {
    write: (writer, values) => {
      writer.out.length(values.length)
      for (const value of values) write(writer, value)
    },
    read: (reader) => {
      const values: T[] = []
      for (let left = reader.in.length(); left > 0; left--) values.push(read(reader))
      return values
    },
  }
}

/** A form for each member that the type has. */
export type MemberForms<T> = { readonly [Name in keyof T]-?: MemberForm<Exclude<T[Name], undefined>> }

/** What is sent may depend on the other members. */
interface MemberForm<T> {
  readonly write: (writer: ValueWriter, value: T, whole: never) => void
  readonly read: (reader: ValueReader) => T
}

const MEMBERS_MAX = 31

/** An object: which of its members are there, and those. A member that is undefined is not there. */
export function struct<T extends object>(members: MemberForms<T>): Form<T> {
  const names = Object.keys(members) as (keyof T)[]
  if (names.length > MEMBERS_MAX) throw new RangeError(`a form has up to ${MEMBERS_MAX} members`)
  const forms = names.map((name) => members[name] as MemberForm<unknown>)
  return {
    write: (writer, value) => {
      let present = 0
      for (let at = 0; at < names.length; at++) if (value[names[at]!] !== undefined) present |= 1 << at
      writer.out.u32(present)
      for (let at = 0; at < names.length; at++)
        if ((present & (1 << at)) !== 0) forms[at]!.write(writer, value[names[at]!], value as never)
    },
    read: (reader) => {
      const present = reader.in.u32()
      const value: Partial<T> = {}
      for (let at = 0; at < names.length; at++)
        if ((present & (1 << at)) !== 0) value[names[at]!] = forms[at]!.read(reader) as T[keyof T]
      return value as T
    },
  }
}

/** How a method is called over a channel; both sides must have the same. */
export interface CallForm {
  writeArgs(writer: ValueWriter, args: readonly unknown[]): void
  readArgs(reader: ValueReader): unknown[]
  /** `args`: those of the call that is answered. */
  writeAnswer(writer: ValueWriter, value: unknown, args: readonly unknown[]): void
  readAnswer(reader: ValueReader): unknown
  /** A few bytes ask for many: not too many of them are begun at once. */
  readonly answersMuch?: true
}

/** Of any arguments and any answer. */
export const ANY_CALL: CallForm = {
  writeArgs: (writer, args) => writer.value(args),
  readArgs: (reader) => reader.value() as unknown[],
  writeAnswer: (writer, value) => writer.value(value),
  readAnswer: (reader) => reader.value(),
}

/** The same, of a method that may answer with much. */
export const ANY_READ: CallForm = { ...ANY_CALL, answersMuch: true }

/** Of a method with one argument. */
export function callOf<Request, Reply>(request: Form<Request>, reply: Form<Reply>): CallForm {
  return {
    writeArgs: (writer, args) => request.write(writer, args[0] as Request),
    readArgs: (reader) => [request.read(reader)],
    writeAnswer: (writer, value) => reply.write(writer, value as Reply),
    readAnswer: (reader) => reply.read(reader),
  }
}
