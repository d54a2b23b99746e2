import { AuditLogError } from '../errors.js'
import { isPlainObject } from '../options.js'
import { isDate } from '../event/realm.js'

/**
 * The structure of a query string's brackets, or of an object: texts, lists, and maps that keep the
 * order of their keys. The parser reads only this form.
 */
export type Param = string | Param[] | ParamMap
export type ParamMap = Map<string, Param>

/** Limits that no ordinary client reaches. */
export const MAX_QUERY_BYTES = 65_536
const MAX_BRACKETS = 32

const tooLarge = (message: string, parameter?: string): AuditLogError =>
  new AuditLogError('QUERY_TOO_LARGE', message, { parameter })

const malformed = (message: string, parameter: string): AuditLogError =>
  new AuditLogError('MALFORMED_PARAMETER', message, { parameter })

function decode(text: string, parameter: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw malformed(
      `the percent-encoding of ${parameter} is not valid UTF-8; a literal % is written %25`,
      parameter,
    )
  }
}

const encoder = new TextEncoder()

const byteLength = (text: string): number => encoder.encode(text).length

/** Name and value of each parameter of a query string, in order, not decoded. */
function rawPairs(query: string): [name: string, value: string][] {
  if (byteLength(query) > MAX_QUERY_BYTES)
    throw tooLarge(`the query string is longer than ${MAX_QUERY_BYTES} bytes`)
  const pairs: [name: string, value: string][] = []
  let from = query.startsWith('?') ? 1 : 0
  while (from < query.length) {
    const next = query.indexOf('&', from)
    const end = next === -1 ? query.length : next
    const part = query.slice(from, end)
    const at = part.indexOf('=')
    if (part !== '') pairs.push(at === -1 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)])
    from = end + 1
  }
  return pairs
}

/** `filter[g][0][m]` -> [`g`, `0`, `m`]. Throws with the position of a wrong bracket. */
function splitBrackets(name: string): string[] {
  const open = name.indexOf('[')
  const stray = name.indexOf(']')
  if (open === -1 && stray === -1) return []
  if (open === -1 || (stray !== -1 && stray < open))
    throw malformed(`${name}: the bracket ] at position ${stray + 1} closes nothing`, name)
  const keys: string[] = []
  let at = open
  while (at < name.length) {
    if (name[at] !== '[')
      throw malformed(`${name}: expected [ or the end at position ${at + 1}`, name)
    const close = name.indexOf(']', at)
    if (close === -1)
      throw malformed(`${name}: the bracket [ at position ${at + 1} is not closed`, name)
    const key = name.slice(at + 1, close)
    const inner = key.indexOf('[')
    if (inner !== -1)
      throw malformed(
        `${name}: the bracket [ at position ${at + inner + 2} stands inside another`,
        name,
      )
    keys.push(key)
    at = close + 1
  }
  if (keys.length > MAX_BRACKETS) throw tooLarge(`${name} is nested too deeply`, name)
  return keys
}

const clash = (name: string): AuditLogError =>
  malformed(`${name} is given in two forms that exclude each other`, name)

/** Inserts a value at the place that its brackets name. `[]` appends; a repeated plain key becomes a list. */
function insert(
  map: ParamMap,
  [root, ...keys]: readonly [root: string, ...keys: string[]],
  value: string,
  name: string,
): void {
  let holder: ParamMap | Param[] = map
  let key = root
  for (let i = 0; i < keys.length; i++) {
    const next = keys[i]!
    const existing: Param | undefined = Array.isArray(holder)
      ? unfinished(holder, keys.slice(i))
      : holder.get(key)
    if (existing === undefined) {
      const created: ParamMap | Param[] = next === '' ? [] : new Map()
      setChild(holder, key, created)
      holder = created
    } else if (typeof existing === 'string') {
      // `a=1&a[]=2`: the plain key joins the list.
      if (next !== '' || Array.isArray(holder)) throw clash(name)
      const list: Param[] = [existing]
      holder.set(key, list)
      holder = list
    } else if (Array.isArray(existing) !== (next === '')) throw clash(name)
    else holder = existing
    key = next
  }
  if (Array.isArray(holder)) {
    holder.push(value)
    return
  }
  const existing = holder.get(key)
  if (existing === undefined) holder.set(key, value)
  else if (typeof existing === 'string') holder.set(key, [existing, value])
  else if (Array.isArray(existing)) existing.push(value)
  else throw clash(name)
}

/**
 * The element of a list that a further key extends. Like Rack for `g[][m]=or&g[][a_eq]=1`: keys extend
 * the last element until one repeats; a key that ends in a list itself, `g[][a_in][]`, always extends.
 */
function unfinished(list: readonly Param[], path: readonly string[]): ParamMap | undefined {
  const last = list.at(-1)
  if (!(last instanceof Map) || path[0] === '') return undefined
  return path.includes('') || !hasPath(last, path) ? last : undefined
}

function hasPath(map: ParamMap, path: readonly string[]): boolean {
  let at: Param | undefined = map
  for (const key of path) at = at instanceof Map ? at.get(key) : undefined
  return at !== undefined
}

function setChild(holder: ParamMap | Param[], key: string, child: Param): void {
  if (Array.isArray(holder)) holder.push(child)
  else holder.set(key, child)
}

/** Length of the name before the first bracket, raw or encoded. */
function rootLength(name: string): number {
  const end = name.search(/[[\]%]/)
  return end === -1 ? name.length : end
}

/** Reads the parameters whose roots `isOurs` accepts, and the names of the others. */
export function readQueryString(
  query: string,
  isOurs: (root: string) => boolean,
): { params: ParamMap; others: string[] } {
  const params: ParamMap = new Map()
  const others: string[] = []
  for (const [rawName, rawValue] of rawPairs(query)) {
    // Brackets may be encoded. Other parameters need not even be valid encoding.
    const root = rawName.slice(0, rootLength(rawName))
    if (!isOurs(root)) {
      others.push(rawName)
      continue
    }
    const name = decode(rawName, rawName)
    insert(params, [root, ...splitBrackets(name)], decode(rawValue, name), name)
  }
  return { params, others }
}

/** Called with the name of a part of a query that is left out, because it sets nothing. May throw. */
export type Drop = (at: string) => void

/** Turns members of an object into parameters, and limits the bytes of their texts. */
class ObjectReader {
  private bytes = 0
  private readonly drop: Drop

  constructor(drop: Drop) {
    this.drop = drop
  }

  /** The members that are defined, with their names. */
  entries(object: object, at: string | undefined): [key: string, name: string, value: unknown][] {
    const given: [string, string, unknown][] = []
    for (const [key, value] of Object.entries(object)) {
      const name = at === undefined ? key : `${at}[${key}]`
      if (value === undefined) this.drop(name)
      else given.push([key, name, value])
    }
    return given
  }

  read(value: unknown, at: string, depth: number): Param {
    if (depth > MAX_BRACKETS) throw tooLarge(`${at} is nested too deeply`, at)
    if (typeof value === 'string') return this.count(value)
    if (typeof value === 'boolean' || typeof value === 'bigint') return this.count(String(value))
    if (typeof value === 'number' && Number.isFinite(value)) return this.count(String(value))
    if (isDate(value) && !Number.isNaN(value.getTime())) return this.count(value.toISOString())
    if (Array.isArray(value)) {
      const given = value.filter((element) => element !== undefined)
      if (given.length < value.length) this.drop(at)
      return given.map((element, i) => this.read(element, `${at}[${i}]`, depth + 1))
    }
    if (isPlainObject(value)) return this.members(value, at, depth)
    throw new AuditLogError(
      'INVALID_VALUE',
      `${at} must be a text, a number, a boolean, a valid date, a list or an object of these`,
      { parameter: at },
    )
  }

  private members(object: object, at: string, depth: number): ParamMap {
    const map: ParamMap = new Map()
    for (const [key, name, member] of this.entries(object, at))
      map.set(this.count(key), this.read(member, name, depth + 1))
    return map
  }

  private count(text: string): string {
    this.bytes += byteLength(text)
    if (this.bytes > MAX_QUERY_BYTES)
      throw tooLarge(`the query is longer than ${MAX_QUERY_BYTES} bytes`)
    return text
  }
}

/** Reads parameters from an object. Numbers and booleans become text; `undefined` members are left out. */
export function readObject(
  object: unknown,
  isOurs: (root: string) => boolean,
  drop: Drop,
): { params: ParamMap; others: string[] } {
  if (!isPlainObject(object))
    throw new AuditLogError('INVALID_VALUE', 'a query is a query string or a plain object')
  const reader = new ObjectReader(drop)
  const params: ParamMap = new Map()
  const others: string[] = []
  try {
    for (const [key, value] of Object.entries<unknown>(object as Record<string, unknown>)) {
      if (!isOurs(key)) others.push(key)
      else if (value === undefined) drop(key)
      else params.set(key, reader.read(value, key, 1))
    }
  } catch (error) {
    if (error instanceof AuditLogError) throw error
    // A getter or a proxy of the caller threw.
    throw new AuditLogError('INVALID_VALUE', 'the query cannot be read', { cause: error })
  }
  return { params, others }
}
