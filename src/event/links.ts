import { isUuid } from './uuid.js'
import type { JsonObject, JsonValue } from './event.js'
import { AuditLogError } from '../errors.js'

/** A link attribute of an event, read by the interface's "Link attributes". */
export interface Link {
  readonly attribute: LinkAttribute
  readonly value: string
  /** The API path by convention, such as `/api/changes/<uuid>`. */
  readonly path: string
}

/** The form of a link attribute's value, and how it becomes a path. */
interface LinkForm {
  readonly read: (value: string) => string | undefined
  readonly expected: string
  /** Set for paths. Other values are UUIDs. */
  readonly pattern: string | undefined
}

const byId = (plural: string): LinkForm => ({
  read(value) {
    const id = value.toLowerCase()
    return isUuid(id) ? `/api/${plural}/${id}` : undefined
  },
  expected: 'a UUID',
  pattern: undefined,
})

function byPath(pattern: string, expected: string): LinkForm {
  const path = new RegExp(pattern)
  return { read: (value) => (path.test(value) ? `/api${value}` : undefined), expected, pattern }
}

/** Any code but `.` and `..`, which have a meaning of their own in paths. */
const CODE = '(?!\\.{1,2}(?:/|$))[A-Za-z0-9_.-]+'
const WHOLE_CODE = new RegExp(`^${CODE}$`)
/** Whether the text can be a segment of a source path. */
export const isCode = (text: string): boolean => WHOLE_CODE.test(text)

const PROJECT = `/projects/${CODE}`
const NODE = `${PROJECT}(?:/environments/${CODE}(?:/assets/${CODE})?)?`

/**
 * The link attributes by rank. The best rank gives the source: the most specific resource is what the
 * event is about. See the interface, "Link attributes".
 */
const LINKS = {
  step_id: byId('steps'),
  workflow_step_id: byId('workflow_steps'),
  change_id: byId('changes'),
  workflow_run_id: byId('workflow_runs'),
  scheduled_change_id: byId('scheduled_changes'),
  properties_version_id: byId('properties_versions'),
  settings_version_id: byId('settings_versions'),
  template_version_id: byId('template_versions'),
  properties_id: byId('properties'),
  settings_id: byId('settings'),
  template_id: byId('templates'),
  bookmark_id: byId('bookmarks'),
  git_remote_id: byId('git_remotes'),
  node_id: byId('nodes'),
  node_path: byPath(`^${NODE}$`, 'a path /projects/<code>[/environments/<code>[/assets/<code>]]'),
  project_path: byPath(`^${PROJECT}$`, 'a path /projects/<code>'),
  project_id: byId('projects'),
} as const satisfies Record<string, LinkForm>

export type LinkAttribute = keyof typeof LINKS

/** The names of the 17 link attributes, best source first. */
export const LINK_ATTRIBUTES = Object.keys(LINKS) as readonly LinkAttribute[]

/** The form of a link attribute's values. Without a pattern they are UUIDs. */
export function linkForm(attribute: LinkAttribute): Pick<LinkForm, 'expected' | 'pattern'> {
  return LINKS[attribute]
}

const RANKS: ReadonlyMap<string, number> = new Map(
  LINK_ATTRIBUTES.map((attribute, rank) => [attribute, rank]),
)

/**
 * Replaces the convention: returns the source path for a link, or null for a link without a source.
 * Throws an {@link AuditLogError} (`INVALID_LINK`) to refuse a target that does not exist. A system
 * event is recorded in any case; a refused link then gives it no source.
 */
export type ResolveSource = (link: Link, event: { readonly system: boolean }) => string | null

const byConvention: ResolveSource = (link) => link.path

function readLink(attribute: LinkAttribute, value: JsonValue): Link {
  const { read, expected } = LINKS[attribute]
  const path = typeof value === 'string' ? read(value) : undefined
  if (path === undefined) {
    throw new AuditLogError('INVALID_LINK', `${attribute} must be ${expected}`, {
      pointer: `/${attribute}`,
    })
  }
  return { attribute, value: value as string, path }
}

/**
 * The source of an event with these attributes: the path of its best link, or null if it has none.
 * Checks every link; a null value is not a link. Throws `INVALID_LINK` with a pointer, or what
 * `resolve` throws. With `lenient` it skips refused links instead.
 */
export function sourceOf(
  attributes: JsonObject,
  system: boolean,
  resolve: ResolveSource = byConvention,
  lenient = false,
): string | null {
  let source: string | null = null
  for (const rank of linksIn(attributes)) {
    const attribute = LINK_ATTRIBUTES[rank]!
    try {
      const path = resolve(readLink(attribute, attributes[attribute]!), { system })
      source ??= path
    } catch (error) {
      if (!lenient) throw withPointer(error, attribute)
    }
  }
  return source
}

/** Adds the pointer to an `INVALID_LINK` that a host's `resolveSource` threw without one. */
function withPointer(error: unknown, attribute: LinkAttribute): unknown {
  if (!(error instanceof AuditLogError) || error.code !== 'INVALID_LINK' || error.pointer)
    return error
  const { message, cause } = error
  return new AuditLogError('INVALID_LINK', message, { pointer: `/${attribute}`, cause })
}

/** The ranks of an event's link attributes, best first. */
function linksIn(attributes: JsonObject): readonly number[] {
  const ranks: number[] = []
  // Most events have few attributes and no link, so look up their names rather than all link names.
  for (const attribute in attributes) {
    const rank = RANKS.get(attribute)
    if (rank !== undefined && attributes[attribute] !== null) ranks.push(rank)
  }
  return ranks.length > 1 ? ranks.toSorted((a, b) => a - b) : ranks
}
