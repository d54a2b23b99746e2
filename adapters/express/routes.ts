import { readTarget } from '../../src/http/node-request.js'
import type { CoveredRoute } from '../../src/http/record/coverage.js'
import type { MatchedRoute } from '../../src/http/record/exchange.js'
import type {
  ExpressApp,
  ExpressLayer,
  ExpressRequest,
  ExpressRoute,
  ExpressRouter,
} from './express.js'

type Path = string | RegExp

/** The part of a path that a layer matches. */
interface Match {
  /** The path of the layer as declared. */
  readonly pattern: Path
  readonly text: string
  readonly params: Readonly<Record<string, unknown>>
}

function join(prefix: string, path: Path): Path {
  if (typeof path !== 'string') return path
  const whole = `${prefix}${path === '/' ? '' : path}`
  return whole === '' ? '/' : whole
}

const asPrefix = (path: Path): string =>
  typeof path === 'string' ? path.replace(/\/$/, '') : `/${String(path)}`

function matchLayer(layer: ExpressLayer, path: string): Match | undefined {
  if (layer.slash) return { pattern: '', text: '', params: {} }
  const patterns = [layer.rawPath].flat() as (Path | undefined)[]
  for (const [i, matcher] of (layer.matchers ?? []).entries()) {
    try {
      const match = matcher(path)
      // Before version 2.3 of the package `router`, layers have no `rawPath`.
      if (match)
        return { pattern: patterns[i] ?? match.path, text: match.path, params: match.params }
    } catch {
      // Express responds 400 to a parameter that cannot be decoded.
    }
  }
  return undefined
}

/** The path after the part that a router was mounted at; `undefined` if that part ends within a segment. */
function restOf(path: string, text: string): string | undefined {
  const rest = path.slice(text.replace(/\/$/, '').length)
  if (rest === '') return '/'
  return rest.startsWith('/') ? rest : undefined
}

const routerOf = ({ handle }: ExpressLayer): ExpressRouter | undefined =>
  Array.isArray((handle as Partial<ExpressRouter>).stack) ? (handle as ExpressRouter) : undefined

interface Candidate extends MatchedRoute {
  readonly route: ExpressRoute
}

/** Where a router is mounted. */
interface Mounted {
  readonly path: string
  readonly prefix: string
  readonly params: Readonly<Record<string, unknown>>
}

/** All routes that match the path, in the order of declaration, with nested routers. */
function matchingRoutes({ stack }: ExpressRouter, { path, prefix, params }: Mounted): Candidate[] {
  return stack.flatMap((layer): Candidate[] => {
    const router = routerOf(layer)
    if (!layer.route && !router) return []
    const match = matchLayer(layer, path)
    if (!match) return []
    const all = { ...params, ...match.params }
    if (layer.route) {
      const pattern = layer.rawPath === undefined ? [layer.route.path].flat()[0]! : match.pattern
      return [{ route: layer.route, path: join(prefix, pattern), params: all }]
    }
    const rest = restOf(path, match.text)
    if (rest === undefined) return []
    const below = { path: rest, prefix: `${prefix}${asPrefix(match.pattern)}`, params: all }
    return matchingRoutes(router!, below)
  })
}

/** Where the app is mounted in its parents, for the path that the client sent. */
function mountedAt(app: ExpressApp, sent: string): Mounted | undefined {
  const { parent } = app
  if (!parent) return { path: sent, prefix: '', params: {} }
  const outer = mountedAt(parent, sent)
  if (!outer) return undefined
  const paths = JSON.stringify(app.mountpath)
  for (const layer of parent.router.stack) {
    const isMount = layer.name === 'mounted_app' && JSON.stringify(layer.rawPath) === paths
    const match = isMount ? matchLayer(layer, outer.path) : undefined
    const rest = match && restOf(outer.path, match.text)
    if (match && rest !== undefined)
      return {
        path: rest,
        prefix: `${outer.prefix}${asPrefix(match.pattern)}`,
        params: { ...outer.params, ...match.params },
      }
  }
  return undefined
}

/**
 * The route that handled the request: the one that ran last. If none ran, the first that would have handled
 * it if earlier middleware had not refused it.
 */
export function handlingRoute(request: ExpressRequest): MatchedRoute | undefined {
  const app = request.app as ExpressApp | undefined
  if (!app) return undefined
  const mounted = mountedAt(app, readTarget(request.originalUrl ?? request.url ?? '').path)
  if (!mounted) return undefined
  const matching = matchingRoutes(app.router, mounted)
  const method = (request.method ?? '').toLowerCase()
  const takes = ({ route: { methods = {} } }: Candidate): boolean =>
    methods['_all'] === true || methods[method] === true
  return (
    matching.find((candidate) => candidate.route === request.route && takes(candidate)) ??
    matching.find(takes)
  )
}

/** All routes below a router. Throws if it is not known where a router is mounted. */
export function declaredRoutes({ stack }: ExpressRouter, prefix: string): CoveredRoute[] {
  return stack.flatMap((layer): CoveredRoute[] => {
    const { route } = layer
    const router = routerOf(layer)
    if (!route && !router) return []
    if (route) {
      const { methods: declared = {} } = route
      const methods = Object.keys(declared).map((method) =>
        method === '_all' ? 'ALL' : method.toUpperCase(),
      )
      const paths = [route.path].flat() as Path[]
      return paths.map((path) => ({ path: join(prefix, path), methods }))
    }
    if (layer.rawPath === undefined && !layer.slash)
      throw new Error('assertCoverage needs version 2.3 or newer of the package router')
    const patterns = layer.slash ? [''] : ([layer.rawPath].flat() as Path[])
    return patterns.flatMap((pattern) => declaredRoutes(router!, `${prefix}${asPrefix(pattern)}`))
  })
}
