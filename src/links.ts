import { isUuid } from './event-id.js'
import type { JsonObject, JsonValue } from './event.js'
import { AuditLogError } from './errors.js'

/** A link attribute of an event, read by the convention of the interface's link table. */
export interface Link {
  readonly attribute: LinkAttribute
  readonly value: string
  /** The API path that the convention gives, such as `/api/changes/<uuid>`. */
  readonly path: string
}

type ReadLink = (value: string) => string | undefined

const byId =
  (plural: string): ReadLink =>
  (value) => {
    const id = value.toLowerCase()
    return isUuid(id) ? `/api/${plural}/${id}` : undefined
  }

const CODE = /^[A-Za-z0-9_.-]+$/
const PATH_KINDS = ['projects', 'environments', 'assets']

const byPath =
  (...lengths: readonly number[]): ReadLink =>
  (value) => {
    const [root, ...segments] = value.split('/')
    const isPath =
      root === '' &&
      lengths.includes(segments.length) &&
      segments.every((segment, index) =>
        index % 2 === 0
          ? segment === PATH_KINDS[index / 2]
          : CODE.test(segment) && segment !== '.' && segment !== '..',
      )
    return isPath ? `/api${value}` : undefined
  }

/**
 * The link attributes, best source first: the most particular resource is what an event is about.
 * See "Link attributes" in the interface, and its list of targets.
 */
const LINKS = {
  step_id: { read: byId('steps'), expected: 'a UUID' },
  workflow_step_id: { read: byId('workflow_steps'), expected: 'a UUID' },
  change_id: { read: byId('changes'), expected: 'a UUID' },
  workflow_run_id: { read: byId('workflow_runs'), expected: 'a UUID' },
  scheduled_change_id: { read: byId('scheduled_changes'), expected: 'a UUID' },
  properties_version_id: { read: byId('properties_versions'), expected: 'a UUID' },
  settings_version_id: { read: byId('settings_versions'), expected: 'a UUID' },
  template_version_id: { read: byId('template_versions'), expected: 'a UUID' },
  properties_id: { read: byId('properties'), expected: 'a UUID' },
  settings_id: { read: byId('settings'), expected: 'a UUID' },
  template_id: { read: byId('templates'), expected: 'a UUID' },
  bookmark_id: { read: byId('bookmarks'), expected: 'a UUID' },
  git_remote_id: { read: byId('git_remotes'), expected: 'a UUID' },
  node_id: { read: byId('nodes'), expected: 'a UUID' },
  node_path: {
    read: byPath(2, 4, 6),
    expected: 'a path /projects/<code>[/environments/<code>[/assets/<code>]]',
  },
  project_path: { read: byPath(2), expected: 'a path /projects/<code>' },
  project_id: { read: byId('projects'), expected: 'a UUID' },
} as const satisfies Record<string, { read: ReadLink; expected: string }>

export type LinkAttribute = keyof typeof LINKS

/** The names of the 17 link attributes, best source first. */
export const LINK_ATTRIBUTES = Object.keys(LINKS) as readonly LinkAttribute[]

const RANKS: ReadonlyMap<string, number> = new Map(
  LINK_ATTRIBUTES.map((attribute, rank) => [attribute, rank]),
)

/**
 * Replaces the convention: gives the source path for a link, null for "a link, but no source of its
 * own", and throws an {@link AuditLogError} (`INVALID_LINK`) to refuse a target that does not exist.
 * Of a system event, which must not be lost for its links, a refused link only gives no source.
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
 * The source of an event with these attributes: the path of its best link, or null without one.
 * Every link is checked; null counts as no link. Throws `INVALID_LINK` with a pointer, or what
 * `resolve` throws; with `lenient` a link that is refused only gives no source.
 */
export function sourceOf(
  attributes: JsonObject,
  system: boolean,
  resolve: ResolveSource = byConvention,
  lenient = false,
): string | null {
  let source: string | null = null
  for (const attribute of linksIn(attributes)) {
    try {
      const path = resolve(readLink(attribute, attributes[attribute]!), { system })
      source ??= path
    } catch (error) {
      if (!lenient) throw error
    }
  }
  return source
}

/** The link attributes of an event, best source first. */
function linksIn(attributes: JsonObject): LinkAttribute[] {
  const ranks: number[] = []
  // Most events have few attributes and no link: their names are looked up, not the links'.
  for (const attribute in attributes) {
    const rank = RANKS.get(attribute)
    if (rank !== undefined && attributes[attribute] !== null) ranks.push(rank)
  }
  return ranks.toSorted((a, b) => a - b).map((rank) => LINK_ATTRIBUTES[rank]!)
}
