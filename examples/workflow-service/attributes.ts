import type { Scalar } from './model.js'
import { invalid } from './problem.js'

/** Reads one value of a request, or throws a 422 with its pointer. */
export type Reader<T> = (value: unknown, pointer: string) => T

/** Codes are path segments, so `.` and `..` are not allowed. */
const CODE = /^(?!\.{1,2}$)[A-Za-z0-9_.-]+$/

interface TextOptions {
  readonly pattern?: RegExp
  /** Describes the pattern in error messages. */
  readonly expected?: string
  readonly fallback?: string
  readonly empty?: boolean
}

export const text =
  ({ pattern, expected, fallback, empty = false }: TextOptions = {}): Reader<string> =>
  (value, pointer) => {
    if (value === undefined && fallback !== undefined) return fallback
    if (typeof value !== 'string') throw invalid(`${pointer} must be a string`, pointer)
    if (value === '' && !empty && fallback === undefined)
      throw invalid(`${pointer} must not be empty`, pointer)
    if (pattern && !pattern.test(value))
      throw invalid(`${pointer} must be ${expected ?? pattern.source}`, pointer)
    return value
  }

export const code: Reader<string> = text({
  pattern: CODE,
  expected: 'letters, digits, dots, hyphens and underscores',
})

export const flag =
  (fallback: boolean): Reader<boolean> =>
  (value = fallback, pointer) => {
    if (typeof value !== 'boolean') throw invalid(`${pointer} must be true or false`, pointer)
    return value
  }

export const wholeNumber =
  (min: number, max: number, fallback?: number): Reader<number> =>
  (value = fallback, pointer) => {
    if (!Number.isInteger(value) || Number(value) < min || Number(value) > max)
      throw invalid(`${pointer} must be a whole number from ${min} to ${max}`, pointer)
    return Number(value)
  }

export const timestamp: Reader<string> = (value, pointer) => {
  const time = typeof value === 'string' ? new Date(value) : undefined
  if (!time || Number.isNaN(time.getTime()))
    throw invalid(`${pointer} must be an ISO 8601 timestamp`, pointer)
  return time.toISOString()
}

export const oneOf =
  <T extends string>(allowed: readonly T[]): Reader<T> =>
  (value, pointer) => {
    const found = allowed.find((name) => name === value)
    if (found === undefined)
      throw invalid(`${pointer} must be one of ${allowed.join(', ')}`, pointer)
    return found
  }

export const optional =
  <T>(reader: Reader<T>): Reader<T | null> =>
  (value, pointer) =>
    value === undefined || value === null ? null : reader(value, pointer)

export const list =
  <T>(reader: Reader<T>): Reader<T[]> =>
  (value = [], pointer) => {
    if (!Array.isArray(value)) throw invalid(`${pointer} must be a list`, pointer)
    return value.map((element, index) => reader(element, `${pointer}/${index}`))
  }

export const textList =
  (fallback: readonly string[]): Reader<readonly string[]> =>
  (value = fallback, pointer) => {
    const texts = list(text())(value, pointer)
    if (texts.length === 0) throw invalid(`${pointer} must not be empty`, pointer)
    return texts
  }

function members(value: unknown, pointer: string): Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw invalid(`${pointer} must be an object`, pointer)
  return value as Record<string, unknown>
}

type Readers = Readonly<Record<string, Reader<unknown>>>
type Read<R extends Readers> = { [K in keyof R]: ReturnType<R[K]> }

/** Reads these members of an object; others are ignored. */
export const record =
  <R extends Readers>(readers: R): Reader<Read<R>> =>
  (value, pointer) => {
    const object = members(value, pointer)
    const read = Object.entries(readers).map(([key, reader]) => [
      key,
      reader(object[key], `${pointer}/${key}`),
    ])
    return Object.fromEntries(read) as Read<R>
  }

/** Reads those of the members that are present: the attributes of a PATCH. */
export const partial =
  <R extends Readers>(readers: R): Reader<Partial<Read<R>>> =>
  (value, pointer) => {
    const given = members(value, pointer)
    const present = Object.entries(readers).filter(([key]) => given[key] !== undefined)
    return record(Object.fromEntries(present))(value, pointer) as Partial<Read<R>>
  }

/** An object whose values are strings, numbers, booleans or null. */
export const scalars: Reader<Readonly<Record<string, Scalar>>> = (value, pointer) => {
  const object = members(value, pointer)
  for (const [key, member] of Object.entries(object))
    if (typeof member === 'object' && member !== null)
      throw invalid(`${pointer}/${key} must be a string, number or boolean`, `${pointer}/${key}`)
  return object as Record<string, Scalar>
}
