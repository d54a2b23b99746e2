import { inspect } from 'node:util'
import { AuditLogError } from '../errors.js'
import { CODE_PLACE, LINK_FORMS, type LinkDefinition, type LinkTable } from '../event/links.js'
import { isOwnField } from '../event/own-fields.js'
import { isCode } from '../event/source-path.js'
import { type OptionNames, requireOptions } from '../options.js'

const LINK: OptionNames<LinkDefinition> = { attribute: true, kind: true, path: true, rank: true }

/** The segments of a path after its first slash; `undefined` without a slash. */
const segmentsOf = (path: unknown): readonly string[] | undefined =>
  typeof path === 'string' && path.startsWith('/') ? path.slice(1).split('/') : undefined

const isLinkPath = (path: unknown): boolean => {
  const segments = segmentsOf(path)
  return (
    segments !== undefined &&
    segments.includes(CODE_PLACE) &&
    segments.every((segment) => segment === CODE_PLACE || isCode(segment))
  )
}

const isKind = (kind: unknown): boolean =>
  Array.isArray(kind)
    ? kind.length > 0 && Array.from(kind).every(isLinkPath)
    : isLinkPath(kind) || (typeof kind === 'string' && Object.hasOwn(LINK_FORMS, kind))

/** Reason why the path is not valid for the attribute; `undefined` if it is valid. */
function pathFault({ attribute, kind, path }: LinkDefinition): string | undefined {
  const place = `{${attribute}}`
  const isPath = typeof kind !== 'string' || kind.startsWith('/')
  const end = isPath ? place : `/${place}`
  const isWhole = typeof path === 'string' && path.endsWith(end)
  const before = isWhole ? path.slice(0, -end.length) : undefined
  if (before === '' || segmentsOf(before)?.every(isCode)) return undefined
  return `path must be a path such as /api${isPath ? '' : `/${attribute.replace(/_id$/, 's')}`}${end}, which ends with ${place}`
}

const isAttribute = (name: unknown): boolean =>
  typeof name === 'string' && /^[^{}/\p{Cc}]+$/u.test(name) && name.isWellFormed()

function faultOf(row: LinkDefinition): string | undefined {
  const { attribute, kind, rank } = row
  if (!isAttribute(attribute))
    return `attribute must be the name of an attribute, without braces and slashes; it is ${inspect(attribute)}`
  if (isOwnField(attribute)) return `attribute must not be ${attribute}, a field of every event`
  if (!isKind(kind))
    return `kind must be ${Object.keys(LINK_FORMS).join(', ')}, or paths such as /shops/${CODE_PLACE}; it is ${inspect(kind)}`
  if (typeof rank !== 'number' || !Number.isFinite(rank))
    return `rank must be a number; it is ${inspect(rank)}`
  return pathFault(row)
}

/**
 * A copy of the option `links`, so that later changes have no effect. Throws `INVALID_OPTION`, which names the wrong
 * row; `where` names the function.
 */
export function readLinks(links: LinkTable | undefined, where: string): LinkTable {
  if (links === undefined) return []
  const invalid = (message: string): AuditLogError =>
    new AuditLogError('INVALID_OPTION', `${where}: ${message}`)
  if (!Array.isArray(links) || links.length === 0)
    throw invalid(
      'links must be a list of at least one row { attribute, kind, path, rank }; leave it out for a log without links',
    )
  const places = new Map<string, number>()
  const read = Array.from(links as LinkTable, (row, i): LinkDefinition => {
    requireOptions(row, LINK, `${where}: links[${i}]`)
    const fault = faultOf(row)
    if (fault !== undefined) throw invalid(`links[${i}]: ${fault}`)
    const { attribute, kind, path, rank } = row
    const earlier = places.get(attribute)
    if (earlier !== undefined)
      throw invalid(
        `links[${i}]: attribute must not be ${attribute} again, as in links[${earlier}]`,
      )
    places.set(attribute, i)
    const kept = typeof kind === 'string' ? kind : Object.freeze([...kind])
    return Object.freeze({ attribute, kind: kept, path, rank })
  })
  return Object.freeze(read)
}
