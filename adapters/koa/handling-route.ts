import type { RoutedContext, RouterLayer } from './koa.js'

/**
 * The route that handled the request, or would have if earlier middleware had not refused it: the first
 * matching route that is not before the layer that ran last.
 */
export function handlingRoute(ctx: RoutedContext): RouterLayer | undefined {
  const { matched = [], method, routerPath, routerName } = ctx
  const ranLast = ({ path, name }: RouterLayer): boolean =>
    path === routerPath && (name || undefined) === routerName
  const takes = ({ methods }: RouterLayer): boolean => methods.includes(method)
  return matched.slice(matched.findIndex(ranLast)).find(takes) ?? matched.findLast(takes)
}
