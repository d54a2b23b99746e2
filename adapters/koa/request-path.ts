import { redactText } from '../../src/event/secret-values.js'
import { type IsSecret, REDACTED } from '../../src/event/secrets.js'
import { targetOf } from './exchange.js'
import type { RoutedContext, RouterLayer } from './koa.js'

type Range = readonly [from: number, to: number]

const MAX_MOUNTS = 32

/** The ranges of the path that hold secret parameters of the layer. */
function secretRanges({ regexp, paramNames = [] }: RouterLayer, path: string, isSecret: IsSecret) {
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
  return [[0, path.length]] satisfies Range[]
}

/** The path without the query; secret route parameters and recognisable secrets are `[redacted]`. */
export function requestPath(ctx: RoutedContext, isSecret: IsSecret): string {
  const { path } = targetOf(ctx)
  const ranges = (ctx.matched ?? []).flatMap((layer) => secretRanges(layer, path, isSecret))
  let shown = ''
  let at = 0
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (from >= at) shown += path.slice(at, from) + REDACTED
    at = Math.max(at, to)
  }
  return redactText(shown + path.slice(at))
}
