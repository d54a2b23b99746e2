import { REDACTED } from '../../src/event/redact.js'
import type { IsSecret } from '../../src/event/secrets.js'
import { targetOf } from './exchange.js'
import type { RoutedContext, RouterLayer } from './koa.js'

type Range = readonly [from: number, to: number]

const MAX_MOUNTS = 32

/** Where in the path the layer has parameters that are secret. */
function secretRanges({ regexp, paramNames = [] }: RouterLayer, path: string, isSecret: IsSecret) {
  const hidden = paramNames.map(({ name }) => isSecret(['url_params', String(name)]))
  if (!regexp || !hidden.includes(true)) return []
  const located = new RegExp(regexp.source, `${regexp.flags.replaceAll(/[dgy]/g, '')}d`)
  // koa-mount shows a router only what follows its mount path.
  for (let at = 0, mounts = 0; at !== -1 && mounts < MAX_MOUNTS; mounts++) {
    const indices = located.exec(path.slice(at))?.indices
    if (indices)
      return hidden.flatMap((isHidden, i): Range[] => {
        const range = indices[i + 1]
        return isHidden && range ? [[at + range[0], at + range[1]]] : []
      })
    at = path.indexOf('/', at + 1)
  }
  // It was rewritten: there is no telling where they are.
  return [[0, path.length]] satisfies Range[]
}

/** The whole path without the query; parameters of routes that are secret are `[redacted]` in it. */
export function requestPath(ctx: RoutedContext, isSecret: IsSecret): string {
  const { path } = targetOf(ctx)
  const ranges = (ctx.matched ?? []).flatMap((layer) => secretRanges(layer, path, isSecret))
  let shown = ''
  let at = 0
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (from >= at) shown += path.slice(at, from) + REDACTED
    at = Math.max(at, to)
  }
  return shown + path.slice(at)
}
