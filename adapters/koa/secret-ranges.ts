import type { IsSecret } from '../../src/event/secrets.js'
import type { Range } from '../../src/http/record/exchange.js'
import type { RouterLayer } from './koa.js'

const MAX_MOUNTS = 32

/** The ranges of the path that hold secret parameters of the layer. */
export function secretRanges(
  { regexp, paramNames = [] }: RouterLayer,
  path: string,
  isSecret: IsSecret,
): Range[] {
  const hidden = paramNames.map(({ name }) => isSecret(['url_params', String(name)]))
  if (!regexp || !hidden.includes(true)) return []
  const located = new RegExp(regexp.source, `${regexp.flags.replaceAll(/[dgy]/g, '')}d`)
  // Under koa-mount a router matches only the part after the mount path.
  for (let at = 0, mounts = 0; at !== -1 && mounts < MAX_MOUNTS; mounts++) {
    const indices = located.exec(path.slice(at))?.indices
    if (indices)
      return hidden.flatMap((isHidden, i): Range[] => {
        const range = indices[i + 1]
        return isHidden && range ? [[at + range[0], at + range[1]]] : []
      })
    at = path.indexOf('/', at + 1)
  }
  // The path was rewritten, so the positions are unknown.
  return [[0, path.length]]
}
