import { AuditLogError } from './errors.js'
import { didYouMean, nearest } from './event/nearest.js'

type NameOf<Options> = Options extends unknown ? keyof Options & string : never

/** The names of the options of a type, and of each member of a union. The compiler refuses a missing and an unknown name. */
export type OptionNames<Options> = Readonly<Record<NameOf<Options>, true>>

/**
 * True for an object literal, also from another realm or without a prototype. The prototype of an object literal has
 * no prototype; the prototype of an instance of a class has one.
 */
export function isPlainObject(value: unknown): value is object {
  if (value === null || typeof value !== 'object') return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** The kind of a value, for messages. The value itself may be secret. */
function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return 'a text'
  return typeof value === 'object' ? 'a promise' : `a ${typeof value}`
}

const isPromise = (value: object): boolean =>
  typeof (value as Partial<PromiseLike<unknown>>).then === 'function'

const MIN_PART = 3

/** The name with the fewest edits, or a name that continues the given one: `username` for `user`. */
function suggestionFor(given: string, names: readonly string[]): string | undefined {
  const beginsAs = (name: string): boolean =>
    Math.min(given.length, name.length) >= MIN_PART &&
    (name.startsWith(given) || given.startsWith(name))
  return nearest(given, names) ?? names.find(beginsAs)
}

function unknownOption(given: string, known: object, where: string): AuditLogError {
  const names = Object.keys(known)
  const suggestion = suggestionFor(given, names)
  const help = suggestion === undefined ? `; it has ${names.join(', ')}` : didYouMean(suggestion)
  const message = `${where} has no option ${given}${help}`
  return new AuditLogError('INVALID_OPTION', message, { suggestion })
}

const noObject = (given: unknown, known: object, where: string): AuditLogError =>
  new AuditLogError(
    'INVALID_OPTION',
    `${where} takes an object with ${Object.keys(known).join(', ')}, not ${kindOf(given)}`,
  )

/**
 * Checks the own names of a plain object against `names`. Throws `INVALID_OPTION` for an unknown name, with the
 * nearest known name, and for anything but an object. `where` names the function or the option in messages. Instances
 * of classes may have further members. `undefined` means no options.
 */
export function checkOptions(
  given: unknown,
  names: Readonly<Record<string, true>>,
  where: string,
): void {
  if (given === undefined) return
  if (given === null || typeof given !== 'object' || Array.isArray(given))
    throw noObject(given, names, where)
  if (!isPlainObject(given)) {
    if (isPromise(given)) throw noObject(given, names, where)
    return
  }
  // `in` is faster than a list of the keys. It also visits names of `Object.prototype`.
  for (const name in given)
    if (names[name] !== true && Object.hasOwn(given, name)) throw unknownOption(name, names, where)
}

/** Throws `INVALID_OPTION` for anything but `undefined` or an object whose names the host chooses. */
export function checkNamed(given: unknown, where: string): void {
  if (given === undefined) return
  if (given === null || typeof given !== 'object' || Array.isArray(given))
    throw new AuditLogError('INVALID_OPTION', `${where} takes an object, not ${kindOf(given)}`)
}

/** Like {@link checkOptions}, for options that must be given. */
export function requireOptions(
  given: unknown,
  names: Readonly<Record<string, true>>,
  where: string,
): void {
  if (given === undefined) throw noObject(given, names, where)
  checkOptions(given, names, where)
}
