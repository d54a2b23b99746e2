import { AuditLogError } from '../errors.js'
import {
  type Combinator,
  type Condition,
  DEFAULT_LIMIT,
  type EventQuery,
  type Grouping,
  MAX_LIMIT,
  oneCondition,
  type Sort,
} from './ast.js'
import { type Declaration, eventDeclaration, isInObject } from './attributes.js'
import { type AttributeTypes, declare } from './attribute-types.js'
import { readsValues } from './evaluate.js'
import type { FilterObject } from './filter-object.js'
import { FREE_TEXT, readFreeText, withConditions } from './free-text.js'
import {
  readCombinator,
  readMap,
  readMembers,
  readText,
  readTexts,
  tooLarge,
  wrong,
} from './param-values.js'
import { type Drop, type Param, type ParamMap, readObject, readQueryString } from './params.js'
import { type Predicate, predicates, splitKey } from './predicates.js'
import { READERS } from './readers.js'
import { didYouMean, nearest } from '../event/nearest.js'
import { ANY_TEXT } from '../event/own-fields.js'
import { suggestKey } from './suggest.js'
import { inverts, isBlank, trimAscii } from './values.js'
import { checkOptions, type OptionNames } from '../options.js'
import { isSearchParams } from '../event/realm.js'

/*
 * The grammar: Ransack's search parameters under `filter`, `q` (free-text.ts), and `limit`.
 *
 *   query      = ( "filter" "[" member "]" | "q" | "limit" ) "=" value , joined by "&"
 *   member     = attributes "_" predicate           filter[type_eq]=x   filter[type_in][]=x
 *              | "m" | "combinator"                 or, and (the default)
 *              | "s" | "sorts"                      "created_at desc", a list of these, or
 *                                                   a hash with "name" and "dir"
 *              | "g" | "groupings" "][" index "]["  member (but sorts) of a nested grouping
 *              | "c" | "conditions" "][" index "][" condition
 *   condition  = "a" | "attributes"  "p" | "predicate"  "v" | "values"  "m" | "combinator"
 *   attributes = name *( "_or_" name ) | name *( "_and_" name )
 */

const MAX_NESTING = 10
const MAX_CONDITIONS = 1000
const MAX_LIST_VALUES = 10_000
export const MAX_SORTS = 16

/** The message about a query with more than {@link MAX_SORTS} sorts. */
export const tooManySorts = (sorts: readonly Sort[]): string =>
  `a query has at most ${MAX_SORTS} sorts; this one has ${sorts.length}`

/** The parameters of lists; free text is searched only in events. */
const LIST_ROOTS = ['filter', 'limit']
const EVENT_ROOTS = [...LIST_ROOTS, FREE_TEXT]

const rootsOf = ({ attributes }: ParseOptions): readonly string[] =>
  attributes ? LIST_ROOTS : EVENT_ROOTS

/** A query as an object of the same shape as the query string's brackets. */
export interface QueryObject {
  readonly filter?: FilterObject | undefined
  /**
   * Words and phrases, each of which some text of an event contains: `deploy "by hand" -staging`. The elements of a
   * list must all match.
   */
  readonly q?: string | readonly string[] | undefined
  readonly limit?: number | string | undefined
}

export interface ParseOptions {
  /**
   * The attributes of a list, in addition to `id`. Others are refused with `UNKNOWN_ATTRIBUTE`, and
   * values that cannot be read as the declared type with `INVALID_VALUE`.
   * @default the attributes of events: their own fields, and any name
   */
  readonly attributes?: AttributeTypes
  /**
   * The largest limit, and the limit of a query that names none.
   * @default 1000, and 10
   */
  readonly maxLimit?: number
}

const PARSE_OPTIONS: OptionNames<ParseOptions> = { attributes: true, maxLimit: true }

function wordsOf(text: string): string[] {
  // White space other than the ordinary space is rare, and splitting by it is slower.
  const words = /^[!-~ ]*$/.test(text) ? text.split(' ') : text.split(/\p{White_Space}+/u)
  return words.filter((word) => word !== '')
}

/** A condition whose values are not checked yet. */
interface ReadCondition extends Omit<Condition, 'predicate'> {
  readonly predicate: Predicate
  /** True if the values are given as a list without elements. */
  readonly isEmptyList: boolean
}

const isEmptyList = (value: Param | undefined): boolean =>
  Array.isArray(value) && value.length === 0

/** Handling of parts of a filter that set no condition. */
interface Dropping {
  readonly drop: Drop
  /** True if an empty list matches nothing; otherwise its condition is left out. */
  readonly emptyMatchesNothing: boolean
}

const EPOCH = '1970-01-01T00:00:00.000000Z'

/**
 * Matches nothing: no event is both before and after a time, and no item of a list both has an id and has none. Stores
 * answer the former without reading any event.
 */
function nothing({ isOpen }: Declaration): Grouping {
  const tests = isOpen
    ? [oneCondition('created_at', 'lt', [EPOCH]), oneCondition('created_at', 'gt', [EPOCH])]
    : [oneCondition('id', 'null', []), oneCondition('id', 'not_null', [])]
  return { combinator: 'and', conditions: tests.flatMap((test) => test.conditions), groupings: [] }
}

/** Reads one query, and counts conditions and list values for the limits. */
class Reader {
  private conditions = 0
  private listValues = 0
  private readonly declaration: Declaration
  private readonly dropping: Dropping

  constructor(declaration: Declaration, dropping: Dropping) {
    this.declaration = declaration
    this.dropping = dropping
  }

  grouping(map: ParamMap, at: string, depth: number): Grouping | undefined {
    if (depth > MAX_NESTING) throw tooLarge(`groupings nest deeper than ${MAX_NESTING}`, at)
    const { drop } = this.dropping
    let combinator: Combinator | undefined
    const conditions: Condition[] = []
    const groupings: Grouping[] = []
    const add = (condition: Condition | 'nothing' | undefined): void => {
      if (condition === 'nothing') groupings.push(nothing(this.declaration))
      else if (condition) conditions.push(condition)
    }
    for (const [key, value] of map) {
      const name = `${at}[${key}]`
      switch (key) {
        case 'm':
        case 'combinator':
          if (combinator !== undefined) drop(name)
          combinator = readCombinator(value, name, drop, depth === 0)
          break
        case 's':
        case 'sorts':
          if (depth > 0)
            throw wrong('MALFORMED_PARAMETER', name, 'a nested grouping takes no sorts')
          break
        case 'g':
        case 'groupings':
          for (const [index, child] of this.members(value, name)) {
            const grouping = this.grouping(readMap(child, index), index, depth + 1)
            if (grouping) groupings.push(grouping)
          }
          break
        case 'c':
        case 'conditions':
          for (const [index, child] of this.members(value, name))
            add(this.condition(readMap(child, index), index))
          break
        default:
          add(this.keyedCondition(key, value, name, depth === 0))
      }
    }
    if (conditions.length + groupings.length > 0)
      return { combinator: combinator ?? 'and', conditions, groupings }
    if (depth > 0) drop(at)
    return undefined
  }

  /** Groupings or conditions. */
  private members(value: Param, at: string): ReturnType<typeof readMembers> {
    const members = readMembers(value, at)
    if (members.length === 0) this.dropping.drop(at)
    return members
  }

  sorts(map: ParamMap): Sort[] {
    const sorts: Sort[] = []
    for (const [key, value] of map)
      if (key === 's' || key === 'sorts') sorts.push(...this.sortList(value, `filter[${key}]`))
    if (sorts.length > MAX_SORTS) throw tooLarge(tooManySorts(sorts), 'filter[sorts]')
    return sorts
  }

  private sortList(value: Param, at: string): Sort[] {
    if (typeof value === 'string') return this.sort(value, at)
    if (value instanceof Map && (value.has('name') || value.has('dir'))) {
      const name = readText(value.get('name') ?? '', `${at}[name]`)
      const direction = readText(value.get('dir') ?? '', `${at}[dir]`)
      if (isBlank(name) && !isBlank(direction))
        throw wrong('MALFORMED_PARAMETER', `${at}[name]`, 'a sort needs the name of an attribute')
      const stray = [...value.keys()].find((key) => key !== 'name' && key !== 'dir')
      if (stray !== undefined)
        throw wrong('MALFORMED_PARAMETER', `${at}[${stray}]`, 'a sort has a name and a dir')
      // With a direction, the name is taken as it is: it may contain spaces and commas.
      return isBlank(direction) ? this.sort(name, at) : [this.sortBy(name, direction, at)]
    }
    return readMembers(value, at).flatMap(([index, element]) => this.sortList(element, index))
  }

  private sort(text: string, at: string): Sort[] {
    if (text.includes(','))
      throw wrong(
        'MALFORMED_PARAMETER',
        at,
        'write several sorts as a list, filter[sorts][]=…, not joined by a comma',
      )
    const [attribute, ...direction] = wordsOf(text)
    if (attribute === undefined) return []
    // JSON:API's form. It would sort by an attribute that no event has.
    if (text.trim() === attribute && attribute.startsWith('-')) {
      const suggestion = `${attribute.slice(1)} desc`
      const message = `${at}: write ${JSON.stringify(suggestion)}, not ${JSON.stringify(attribute)}`
      throw new AuditLogError('INVALID_VALUE', message, { parameter: at, suggestion })
    }
    return [this.sortBy(attribute, direction.join(' '), at)]
  }

  private sortBy(attribute: string, direction: string, at: string): Sort {
    const dir = direction.trim().toLowerCase() || 'asc'
    if (dir !== 'asc' && dir !== 'desc')
      throw wrong(
        'INVALID_VALUE',
        at,
        `a sort is an attribute and a direction, asc or desc, such as "created_at desc"`,
      )
    this.checkAttribute(attribute, at)
    return { attribute, direction: dir }
  }

  /** `type_eq`, `name_or_code_cont`, `status_in`: attributes and predicate in one key. */
  private keyedCondition(
    key: string,
    value: Param,
    at: string,
    top: boolean,
  ): Condition | 'nothing' | undefined {
    const keyed = splitKey(key)
    if (!keyed) throw this.unknownPredicate(key, at)
    const { attribute, predicate } = keyed
    const read = () => ({
      values: this.values(value, predicate, at, top),
      isEmptyList: isEmptyList(value),
    })
    // A declared name is one attribute. On events each event decides, by the attributes it has.
    if (this.declaration.types.has(attribute))
      return this.build({ attributes: [attribute], combinator: 'and', predicate, ...read() }, at)
    const isOr = attribute.includes('_or_')
    const isAnd = attribute.includes('_and_')
    if (isOr && isAnd)
      throw wrong('MALFORMED_PARAMETER', at, '_or_ and _and_ cannot be mixed in one name')
    const split = isOr || isAnd ? attribute.split(isOr ? '_or_' : '_and_') : [attribute]
    // The keys of nested data may contain `_or_`: then the parts are not attributes.
    const isPath = isInObject(this.declaration, attribute) && !split.every((name) => this.has(name))
    const names = isPath ? [attribute] : split
    if (names.some((name) => name === ''))
      throw wrong('MALFORMED_PARAMETER', at, 'an attribute is missing beside _or_ or _and_')
    if (names.length > 1 && /[[\]]/.test(attribute))
      throw wrong('MALFORMED_PARAMETER', at, 'write names with brackets as a condition, c')
    for (const name of names) this.checkAttribute(name, at)
    const combinator = isOr ? 'or' : 'and'
    const condition = this.build({ attributes: names, combinator, predicate, ...read() }, at)
    if (typeof condition !== 'object' || names.length === 1 || !this.canBeWhole(attribute))
      return condition
    return { ...condition, joinedName: attribute }
  }

  /** The long form of a condition: `c[0][a]=type&c[0][p]=eq&c[0][v]=x`. */
  private condition(map: ParamMap, at: string): Condition | 'nothing' | undefined {
    const { drop } = this.dropping
    const part = (short: string, long: string): Param | undefined => {
      if (map.has(short) && map.has(long)) drop(`${at}[${long}]`)
      return map.get(short) ?? map.get(long)
    }
    const known = new Set(['a', 'attributes', 'p', 'predicate', 'v', 'values', 'm', 'combinator'])
    const stray = [...map.keys()].find((key) => !known.has(key))
    if (stray !== undefined)
      throw wrong('MALFORMED_PARAMETER', `${at}[${stray}]`, 'a condition has a, p, v and m')
    const given = readTexts(part('a', 'attributes') ?? [], `${at}[a]`, 'name')
    const names = given.filter((name) => !isBlank(name))
    if (names.length < given.length) drop(`${at}[a]`)
    if (names.length === 0) throw wrong('MALFORMED_PARAMETER', `${at}[a]`, 'names no attribute')
    for (const name of names) this.checkAttribute(name, `${at}[a]`)
    const predicateName = readText(part('p', 'predicate') ?? '', `${at}[p]`)
    const predicate = predicates.get(predicateName)
    if (!predicate) throw this.unknownPredicate(predicateName, `${at}[p]`)
    const m = part('m', 'combinator')
    const combinator = m === undefined ? 'and' : readCombinator(m, `${at}[m]`, drop)
    const v = part('v', 'values')
    const values = readTexts(v ?? [], `${at}[v]`, 'value')
    if (predicate.takes !== 'list' && values.length > 1)
      throw wrong('INVALID_VALUE', `${at}[v]`, `${predicate.name} takes one value, not a list`)
    const read = {
      attributes: names,
      combinator: names.length > 1 ? combinator : ('and' as const),
      predicate,
      values: this.withoutBlanks(values, `${at}[v]`),
      isEmptyList: isEmptyList(v),
    }
    return this.build(read, `${at}[v]`)
  }

  private build(
    { attributes, combinator, predicate, values, isEmptyList }: ReadCondition,
    at: string,
  ): Condition | 'nothing' | undefined {
    if (values.length === 0) {
      const { drop, emptyMatchesNothing } = this.dropping
      if (isEmptyList && emptyMatchesNothing && predicate.takes === 'list') return 'nothing'
      drop(at)
      if (attributes.includes('created_at'))
        throw wrong('INVALID_VALUE', at, 'a filter on created_at must not be blank')
      return undefined
    }
    if (attributes.includes(ANY_TEXT) && predicate.test !== 'cont' && this.declaration.isOpen)
      throw wrong(
        'INVALID_VALUE',
        at,
        `${ANY_TEXT} stands for all texts, and takes cont or not_cont`,
      )
    if (++this.conditions > MAX_CONDITIONS)
      throw tooLarge(`there are more than ${MAX_CONDITIONS} conditions`, at)
    if (predicate.takes !== 'flag') {
      const read = this.readValues(attributes, predicate, values, at)
      return { attributes, combinator, predicate: predicate.name, values: read }
    }
    const name = inverts(values[0]!) ? predicate.inverse! : predicate.name
    return { attributes, combinator, predicate: name, values: [] }
  }

  /** True if a name with `_or_` may also be one attribute, which each item decides. */
  private canBeWhole(attribute: string): boolean {
    return this.declaration.isOpen || isInObject(this.declaration, attribute)
  }

  private has(attribute: string): boolean {
    const { types, isOpen } = this.declaration
    return isOpen || types.has(attribute) || isInObject(this.declaration, attribute)
  }

  private checkAttribute(attribute: string, at: string): void {
    const { types, objects = [] } = this.declaration
    if (this.has(attribute)) return
    const names = [...types.keys(), ...objects]
    const suggestion = nearest(attribute, names)
    const message = `${at}: there is no attribute ${JSON.stringify(attribute)}${didYouMean(suggestion)} (there are ${names.join(', ')})`
    throw new AuditLogError('UNKNOWN_ATTRIBUTE', message, { parameter: at, suggestion })
  }

  /** Refuses values that cannot be read as the type of an attribute. */
  private readValues(
    attributes: readonly string[],
    predicate: Predicate,
    values: readonly string[],
    at: string,
  ): readonly string[] {
    if (!readsValues(predicate.test)) return values
    const types = attributes.map((name) => this.declaration.types.get(name))
    const [first] = types
    const isOneType = first !== undefined && types.every((type) => type === first)
    const read = isOneType ? values.map(READERS[first].canonical) : values
    for (const type of types) {
      if (type === undefined) continue
      const { reads, fault } = READERS[type]
      const unreadable = read.find((value) => !reads(value))
      if (unreadable !== undefined)
        throw wrong('INVALID_VALUE', at, `${JSON.stringify(unreadable)} ${fault}`)
    }
    return read
  }

  private values(value: Param, predicate: Predicate, at: string, top: boolean): readonly string[] {
    if (typeof value === 'string') {
      return this.withoutBlanks([top ? trimAscii(value) : value], at)
    }
    if (predicate.takes !== 'list')
      throw wrong('INVALID_VALUE', at, `${predicate.name} takes one value, not a list`)
    return this.withoutBlanks(readTexts(value, at, 'value'), at)
  }

  private withoutBlanks(values: readonly string[], at: string): readonly string[] {
    this.listValues += values.length
    if (this.listValues > MAX_LIST_VALUES)
      throw tooLarge(`there are more than ${MAX_LIST_VALUES} values`)
    const given = values.filter((value) => !isBlank(value))
    if (given.length < values.length) this.dropping.drop(at)
    return given
  }

  private unknownPredicate(key: string, at: string): AuditLogError {
    const suggestion = suggestKey(key)
    const message = `${at}: no known predicate ends ${JSON.stringify(key)}${didYouMean(suggestion)}`
    return new AuditLogError('UNKNOWN_PREDICATE', message, { parameter: at, suggestion })
  }
}

/** Reads a limit from 1 to `max`. A larger one counts as `max`; anything else throws `INVALID_VALUE`. */
export function readLimit(
  value: Param | undefined,
  { standard = DEFAULT_LIMIT, max = MAX_LIMIT } = {},
): number {
  if (value === undefined) return standard
  if (typeof value === 'string' && /^\d+$/.test(value) && Number(value) >= 1)
    return Math.min(Number(value), max)
  const range = max === Infinity ? '1 on' : `1 to ${max}`
  throw wrong('INVALID_VALUE', 'limit', `must be one whole number from ${range}`)
}

/**
 * Reads a query string (`filter[type_eq]=x&limit=5`, brackets raw or encoded), a `URLSearchParams`
 * or an object of the same shape. Throws only
 * `AuditLogError`s, which name the wrong parameter:
 * `MALFORMED_PARAMETER`, `UNKNOWN_PREDICATE`, `UNKNOWN_ATTRIBUTE`, `INVALID_VALUE`,
 * `QUERY_TOO_LARGE`, `UNKNOWN_PARAMETER`. See the interface, "List endpoints".
 */
export function parseQuery(
  query: string | URLSearchParams | QueryObject = '',
  options: ParseOptions = {},
): EventQuery {
  checkOptions(options, PARSE_OPTIONS, 'parseQuery')
  let dropped: string | undefined
  const drop = (at: string): void => void (dropped ??= at)
  const read = readQuery(query, options, { drop, emptyMatchesNothing: false })
  if (dropped !== undefined) droppedParts.set(read, dropped)
  return read
}

/** Queries of `parseQuery` that lack a part, with the part's name. */
const droppedParts = new WeakMap<EventQuery, string>()

/** The name of a part that `parseQuery` has left out of the query; `undefined` if it left out nothing. */
export const droppedPart = (query: EventQuery): string | undefined => droppedParts.get(query)

/** The error for a part of a filter that would be left out. */
export const setsNoCondition = (at: string): AuditLogError =>
  wrong('INVALID_VALUE', at, 'sets no condition: it is blank, empty or undefined, or given twice')

/**
 * Like {@link parseQuery}, for a filter by which something is removed, sent or hidden: other parameters are refused,
 * and so is each part that {@link parseQuery} leaves out, with `INVALID_VALUE`. Has no limit unless the query gives
 * one. With `emptyMatchesNothing`, an empty list is allowed, and its condition matches no event.
 */
export const parseWhole = (
  query: string | URLSearchParams | QueryObject = '',
  { attributes, emptyMatchesNothing = false }: WholeOptions = {},
): EventQuery =>
  readQuery(
    query,
    { maxLimit: Infinity, ...(attributes && { attributes }) },
    {
      drop(at) {
        throw setsNoCondition(at)
      },
      emptyMatchesNothing,
    },
  )

export interface WholeOptions extends Pick<ParseOptions, 'attributes'> {
  readonly emptyMatchesNothing?: boolean
}

function readQuery(
  query: string | URLSearchParams | QueryObject,
  options: ParseOptions,
  dropping: Dropping,
): EventQuery {
  const isText = typeof query === 'string' || isSearchParams(query)
  const isOurs = isOneOf(rootsOf(options))
  const params = isText
    ? readQueryString(String(query), isOurs)
    : readObject(query, isOurs, dropping.drop)
  return toQuery(params, options, dropping)
}

/** Like {@link parseQuery}, for query strings only. */
export function parseQueryText(query: string, options: ParseOptions = {}): EventQuery {
  const dropping = { drop() {}, emptyMatchesNothing: false }
  return toQuery(readQueryString(query, isOneOf(rootsOf(options))), options, dropping)
}

const isOneOf =
  (roots: readonly string[]) =>
  (root: string): boolean =>
    roots.includes(root)

function toQuery(
  { params, others }: ReturnType<typeof readQueryString>,
  options: ParseOptions,
  dropping: Dropping,
): EventQuery {
  const [other] = others
  if (other !== undefined) throw unknownParameter(other, rootsOf(options))
  const filter = params.get('filter') ?? new Map<string, Param>()
  if (!(filter instanceof Map))
    throw wrong(
      'MALFORMED_PARAMETER',
      'filter',
      'is written filter[<attribute>_<predicate>]=<value>',
    )
  const { attributes, maxLimit } = options
  const reader = new Reader(attributes ? declare(attributes) : eventDeclaration, dropping)
  const limits = maxLimit === undefined ? {} : { standard: maxLimit, max: maxLimit }
  return {
    where: withConditions(
      reader.grouping(filter, 'filter', 0),
      readFreeText(params.get(FREE_TEXT), dropping.drop),
    ),
    sorts: reader.sorts(filter),
    limit: readLimit(params.get('limit'), limits),
  }
}

// Parameters of JSON:API clients that have another name here.
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['sort', 'filter[sorts]'],
  ['page', 'limit'],
])

function unknownParameter(parameter: string, roots: readonly string[]): AuditLogError {
  const root = /^[^[\]]*/.exec(parameter)![0]
  const suggestion = ELSEWHERE.get(root) ?? nearest(root, roots)
  return new AuditLogError(
    'UNKNOWN_PARAMETER',
    `${parameter} is not a parameter of this list, which has ${roots.join(', ')}${didYouMean(suggestion)}`,
    { parameter, suggestion },
  )
}
