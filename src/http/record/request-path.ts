import { redactText } from '../../event/secret-values.js'
import { type IsSecret, REDACTED } from '../../event/secrets.js'
import type { Range, RecordedExchange } from './exchange.js'

/** The path without the query; secret route parameters and recognisable secrets are `[redacted]`. */
export function requestPath(exchange: RecordedExchange<unknown>, isSecret: IsSecret): string {
  const { path } = exchange
  const ranges = exchange.secretRanges(isSecret)
  let shown = ''
  let at = 0
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (from >= at) shown += path.slice(at, from) + REDACTED
    at = Math.max(at, to)
  }
  return redactText(shown + path.slice(at))
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The segments of the path that hold the value; the whole path if none does, as after a rewrite. */
function rangesOf(path: string, value: string): Range[] {
  const holding: Range[] = []
  const equal: Range[] = []
  for (const { 0: segment, index } of path.matchAll(/[^/]+/g)) {
    const text = decoded(segment)
    if (!text.includes(value)) continue
    const range: Range = [index, index + segment.length]
    holding.push(range)
    if (text === value) equal.push(range)
  }
  if (equal.length > 0) return equal
  return holding.length > 0 ? holding : [[0, path.length]]
}

/** The parts of a path that hold secret parameters, for routers that do not report the positions. */
export function secretParameterRanges(path: string, params: object, isSecret: IsSecret): Range[] {
  return Object.entries(params).flatMap(([name, value]: [string, unknown]) => {
    if (!isSecret(['url_params', name])) return []
    // A wildcard matches several segments: a list of them, or a text with slashes.
    const texts = [value]
      .flat()
      .flatMap((text) => (typeof text === 'string' ? text.split('/') : []))
    return texts.filter((text) => text !== '').flatMap((text) => rangesOf(path, text))
  })
}
