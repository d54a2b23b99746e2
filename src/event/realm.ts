/*
 * Checks that hold for values of any realm: a vm context, and the environment of a test runner, have constructors of their own, which
 * `instanceof` does not know. Browsers run this module too.
 */

const tagOf = (value: unknown): string => Object.prototype.toString.call(value)

/** Checks the tag, which any object may claim, and then calls a method that throws only for other values. */
const checkOf =
  <Value extends object>(tag: string, method: (this: Value) => unknown) =>
  (value: unknown): value is Value => {
    if (tagOf(value) !== `[object ${tag}]`) return false
    try {
      method.call(value as Value)
      return true
    } catch {
      return false
    }
  }

/* oxlint-disable unbound-method -- called with the checked value as `this` */
export const isMap = /* #__PURE__ */ checkOf<ReadonlyMap<unknown, unknown>>(
  'Map',
  Map.prototype.keys,
)
export const isSet = /* #__PURE__ */ checkOf<ReadonlySet<unknown>>('Set', Set.prototype.keys)
export const isDate = /* #__PURE__ */ checkOf<Date>('Date', Date.prototype.getTime)
/** True also for a subclass, whose `then` may be its own. */
export const isPromise = (value: unknown): value is Promise<unknown> =>
  tagOf(value) === '[object Promise]'
export const isRegExp = (value: unknown): value is RegExp => tagOf(value) === '[object RegExp]'
export const isSearchParams = (value: unknown): value is URLSearchParams =>
  tagOf(value) === '[object URLSearchParams]'
export const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && tagOf(value) === '[object Uint8Array]'
const isNumber = /* #__PURE__ */ checkOf<number & object>('Number', Number.prototype.valueOf)
const isString = /* #__PURE__ */ checkOf<string & object>('String', String.prototype.valueOf)
const isBoolean = /* #__PURE__ */ checkOf<boolean & object>('Boolean', Boolean.prototype.valueOf)
/* oxlint-enable unbound-method */

/** True for an object that holds a number, a text or a boolean. */
export const isBoxed = (value: object): boolean =>
  isNumber(value) || isString(value) || isBoolean(value)

/** True for an error. Never throws. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || tagOf(value) === '[object Error]'
  } catch {
    // The trap of a proxy threw.
    return false
  }
}

const isFilled = (text: string): boolean => text.trim() !== ''

// Causes can form a cycle.
const MAX_ERRORS = 10

/** The errors that an error names as its causes, and the errors that it stands for. */
function innerErrors(error: Error): { readonly several: unknown[]; readonly cause: unknown } {
  const { errors, cause } = error as Error & { readonly errors?: unknown }
  return { several: Array.isArray(errors) ? (errors as unknown[]) : [], cause }
}

/** The error, then the errors that it stands for, then its causes: at most ten. */
export function errorsWithin(error: Error): readonly Error[] {
  const found = new Set<Error>([error])
  for (const one of found) {
    const { several, cause } = innerErrors(one)
    for (const inner of [...several, cause])
      if (isError(inner) && found.size < MAX_ERRORS) found.add(inner)
  }
  return [...found]
}

/** The last of {@link errorsWithin}, which is the error itself if it names no other. */
export const innermostError = (error: Error): Error => errorsWithin(error).at(-1)!

/**
 * The text of an error, with the texts of the errors that it stands for and of its causes:
 * `no address answered (connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1): the cause`. A cause with
 * whose text the error ends is not repeated.
 */
export function textWithCauses(error: Error, textOf: (value: unknown) => string): string {
  const seen = new Set<unknown>()
  const read = (value: unknown): string => {
    if (value === undefined || seen.has(value) || seen.size >= MAX_ERRORS) return ''
    seen.add(value)
    const own = textOf(value)
    if (!isError(value)) return own
    const { several, cause } = innerErrors(value)
    const list = several.map(read).filter(isFilled).join('; ')
    const whole = list === '' ? own : isFilled(own) ? `${own} (${list})` : list
    const because = read(cause)
    if (!isFilled(because) || whole.endsWith(because)) return whole
    return isFilled(whole) ? `${whole}: ${because}` : because
  }
  return read(error)
}
