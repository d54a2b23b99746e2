import { isUuid } from './uuid.js'
import type { JsonObject, JsonValue } from './event.js'
import { AuditLogError } from '../errors.js'
import { jsonPointer } from './json-copy.js'
import { CODE, isCode } from './source-path.js'

/** The form of paths of codes, such as `/projects/{code}`: each `{code}` stands for a code. */
export type LinkPath = `/${string}`

/**
 * The form of the values of a link attribute:
 * - `uuid`: a UUID. It is in lower case in the source.
 * - `code`: letters, digits, `_`, `.` and `-`, but not `.` or `..`.
 * - `integer`: a whole number of at least 0, or its digits as a text.
 * - one or several paths of codes, such as `['/shops/{code}', '/shops/{code}/shelves/{code}']`.
 */
export type LinkKind = 'uuid' | 'code' | 'integer' | LinkPath | readonly LinkPath[]

/** One row of a table of links: an attribute that names a resource, and how it becomes a source. */
export interface LinkDefinition {
  readonly attribute: string
  readonly kind: LinkKind
  /**
   * The path of the resource, which ends with the attribute in braces: `/api/orders/{order_id}`, and for a kind that is a path
   * `/api{shelf_path}`.
   */
  readonly path: string
  /** The link with the lowest rank gives the source. Of equal ranks it is the earlier row. */
  readonly rank: number
}

/** The link attributes of a log. */
export type LinkTable = readonly LinkDefinition[]

/** A link attribute of an event. */
export interface Link {
  readonly attribute: string
  readonly value: string
  /** The path that the table of links gives, such as `/api/orders/<uuid>`. */
  readonly path: string
}

/** The form of a link attribute's values. */
export interface LinkForm {
  /** The end of the path; `undefined` if the value has another form. */
  readonly read: (value: JsonValue) => string | undefined
  readonly expected: string
  /** The JSON Schema of the values. */
  readonly schema: { readonly type: string | readonly string[] } & Readonly<Record<string, unknown>>
}

/** A row of a table of links, ready for use. */
export interface LinkRule extends LinkForm, Pick<LinkDefinition, 'attribute' | 'kind'> {
  /** The path before the value. */
  readonly prefix: string
  /** 0 for the best link. */
  readonly place: number
}

/** The rules by attribute, best source first. */
export type LinkRules = ReadonlyMap<string, LinkRule>

const DIGITS = '^(?:0|[1-9][0-9]*)$'
const WHOLE = new RegExp(DIGITS)

/** The kinds that are not paths. */
export const LINK_FORMS: Readonly<Record<'uuid' | 'code' | 'integer', LinkForm>> = {
  uuid: {
    read(value) {
      const id = typeof value === 'string' ? value.toLowerCase() : ''
      return isUuid(id) ? id : undefined
    },
    expected: 'a UUID',
    schema: { type: 'string', format: 'uuid' },
  },
  code: {
    read: (value) => (typeof value === 'string' && isCode(value) ? value : undefined),
    expected: 'a text of letters, digits, _, . and -, but not . or ..',
    schema: { type: 'string', pattern: `^${CODE}$` },
  },
  integer: {
    read(value) {
      const text = typeof value === 'number' && Number.isSafeInteger(value) ? `${value}` : value
      return typeof text === 'string' && WHOLE.test(text) ? text : undefined
    },
    expected: 'a whole number of at least 0',
    schema: { type: ['integer', 'string'], minimum: 0, pattern: DIGITS },
  },
}

/** The place of a code in a {@link LinkPath}. */
export const CODE_PLACE = '{code}'

function pathForm(paths: readonly string[]): LinkForm {
  // Between the places a path has only slashes and codes, in which `.` is the only special character.
  const patterns = paths.map((path) =>
    path.replaceAll('.', '\\.').replaceAll(CODE_PLACE, () => CODE),
  )
  const pattern = `^(?:${patterns.join('|')})$`
  const form = new RegExp(pattern)
  return {
    read: (value) => (typeof value === 'string' && form.test(value) ? value : undefined),
    expected: `a path ${paths.join(' or ')}`,
    schema: { type: 'string', pattern },
  }
}

const formOf = (kind: LinkKind): LinkForm => {
  if (typeof kind !== 'string') return pathForm(kind)
  return kind === 'uuid' || kind === 'code' || kind === 'integer'
    ? LINK_FORMS[kind]
    : pathForm([kind])
}

/** The rules of a valid table. */
export function linkRules(table: LinkTable): LinkRules {
  const rules = table
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ attribute, kind, path }, place): [string, LinkRule] => {
      const prefix = path.slice(0, path.length - attribute.length - '{}'.length)
      return [attribute, { ...formOf(kind), attribute, kind, prefix, place }]
    })
  return new Map(rules)
}

/**
 * Replaces the paths of the table of links: returns the source for a link, or null for a link without a source.
 * Throws an {@link AuditLogError} (`INVALID_LINK`) to refuse a target that does not exist. A system
 * event is recorded in any case; a refused link then gives it no source.
 */
export type ResolveSource = (link: Link, event: { readonly system: boolean }) => string | null

const byTable: ResolveSource = (link) => link.path

/** The path of a value by the rule; `undefined` if the value has another form. */
export function linkPath({ prefix, read }: LinkRule, value: JsonValue): string | undefined {
  const end = read(value)
  return end === undefined ? undefined : prefix + end
}

function readLink(rule: LinkRule, value: JsonValue): Link {
  const { attribute, prefix, expected } = rule
  const path = linkPath(rule, value)
  if (path === undefined) {
    throw new AuditLogError('INVALID_LINK', `${attribute} must be ${expected}`, {
      pointer: jsonPointer([attribute]),
    })
  }
  return { attribute, value: typeof value === 'string' ? value : path.slice(prefix.length), path }
}

/** How the links of an event become its source. */
export interface SourceRules {
  readonly rules: LinkRules
  /** @default the paths of the rules */
  readonly resolve?: ResolveSource | undefined
  /** Skips refused links instead of throwing. */
  readonly lenient?: boolean
}

/**
 * The source of an event with these attributes: the path of its best link, or null if it has none.
 * Checks every link; a null value is not a link. Throws `INVALID_LINK` with a pointer, or what
 * `resolve` throws.
 */
export function sourceOf(
  attributes: JsonObject,
  system: boolean,
  { rules, resolve = byTable, lenient = false }: SourceRules,
): string | null {
  let source: string | null = null
  for (const rule of linksIn(attributes, rules)) {
    try {
      const path = resolve(readLink(rule, attributes[rule.attribute]!), { system })
      source ??= path
    } catch (error) {
      if (!lenient) throw withPointer(error, rule.attribute)
    }
  }
  return source
}

/** Adds the pointer to an `INVALID_LINK` that a host's `resolveSource` threw without one. */
function withPointer(error: unknown, attribute: string): unknown {
  if (!(error instanceof AuditLogError) || error.code !== 'INVALID_LINK' || error.pointer)
    return error
  const { message, cause } = error
  return new AuditLogError('INVALID_LINK', message, { pointer: jsonPointer([attribute]), cause })
}

const NONE: readonly LinkRule[] = []

/** The rules of an event's link attributes, best first. */
function linksIn(attributes: JsonObject, rules: LinkRules): readonly LinkRule[] {
  if (rules.size === 0) return NONE
  const found: LinkRule[] = []
  // Most events have few attributes and no link, so look up their names rather than all link names.
  for (const attribute in attributes) {
    const rule = rules.get(attribute)
    if (rule !== undefined && attributes[attribute] !== null) found.push(rule)
  }
  return found.length > 1 ? found.toSorted((a, b) => a.place - b.place) : found
}
