import { AuditLogError } from '../../errors.js'
import { parseTimestamp } from '../../event/timestamp.js'
import type { HistoryResource } from '../../history/history.js'
import {
  extractParameters,
  invalidParameter,
  readInteger,
  readSingleValues,
} from '../parameters.js'
import { HISTORY_LIMIT } from '../openapi/parameters.js'

/** The parameters of a request for the history of a resource. */
export interface HistoryRequest {
  readonly resource: HistoryResource
  readonly asOf: string | undefined
  readonly limit: number
}

const KNOWN = 'source, resource[<attribute>], as_of and limit'
const OWN = /^(?:source|as_of|limit)$/
const ATTRIBUTE = /^resource\[([^[\]]+)\]$/

function readResource(
  source: string | undefined,
  attributes: Readonly<Record<string, string>>,
): HistoryResource {
  const hasAttributes = Object.keys(attributes).length > 0
  if (source !== undefined && hasAttributes)
    throw invalidParameter('source', 'must not be combined with resource[<attribute>]')
  if (hasAttributes) return attributes
  if (source === undefined)
    throw invalidParameter(
      'source',
      'must be a path such as /api/orders/1; without it, resource[<attribute>] identifies the resource',
    )
  if (source.includes('/')) return source
  throw invalidParameter('source', 'must be a path such as /api/orders/1')
}

/** Throws `INVALID_VALUE`, and `UNKNOWN_PARAMETER` for any other parameter. */
export function readHistoryRequest(query: string): HistoryRequest {
  const isKnown = (name: string): boolean => OWN.test(name) || ATTRIBUTE.test(name)
  const { extracted, rest } = extractParameters(query, isKnown)
  const [parameter] = new URLSearchParams(rest).keys()
  if (parameter !== undefined)
    throw new AuditLogError(
      'UNKNOWN_PARAMETER',
      `${parameter} is not supported here; the parameters are ${KNOWN}`,
      { parameter },
    )
  const values = readSingleValues(extracted)
  const attributes = [...values].flatMap(([name, value]) => {
    const attribute = ATTRIBUTE.exec(name)?.[1]
    return attribute === undefined ? [] : [[attribute, value] as const]
  })
  const asOf = values.get('as_of')
  if (asOf !== undefined && parseTimestamp(asOf) === undefined)
    throw invalidParameter('as_of', 'must be a time such as 2026-03-01T12:00:00Z')
  return {
    resource: readResource(values.get('source'), Object.fromEntries(attributes)),
    asOf,
    limit: readInteger(values, 'limit', HISTORY_LIMIT),
  }
}
