import { AuditLogError } from '../errors.js'

/** Parameters of a query string, decoded, in order. */
export type Parameters = readonly (readonly [name: string, value: string])[]

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    // The parser of the rest tells what is wrong with it.
    return text
  }
}

/**
 * Parts a query string: the parameters that are wanted, and the rest as it was sent, which the grammar
 * of filters reads.
 */
export function takeParameters(
  query: string,
  isWanted: (name: string) => boolean,
): { readonly taken: Parameters; readonly rest: string } {
  const taken: [name: string, value: string][] = []
  const rest: string[] = []
  for (const part of query.split('&')) {
    const at = part.indexOf('=')
    const name = decode(at === -1 ? part : part.slice(0, at))
    if (isWanted(name)) taken.push([name, at === -1 ? '' : decode(part.slice(at + 1))])
    else rest.push(part)
  }
  return { taken, rest: rest.join('&') }
}

/** For what takes no parameters: throws `UNKNOWN_PARAMETER` for the first one there is. */
export function refuseParameters(query: string): void {
  const [parameter] = new URLSearchParams(query).keys()
  if (parameter === undefined) return
  throw new AuditLogError('UNKNOWN_PARAMETER', `${parameter}: no parameter is taken here`, {
    parameter,
  })
}
