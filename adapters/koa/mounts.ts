import * as mounting from '../../src/http/mounting/mounts.js'
import { host, mount } from './exchange.js'
import type { KoaContext, KoaMiddleware, RoutedContext } from './koa.js'

export type AuditHealthOptions = mounting.AuditHealthOptions<KoaContext>
export type AuditPageOptions = mounting.AuditPageOptions<KoaContext>
export type AuditRoutesOptions = mounting.AuditRoutesOptions<KoaContext>
export type ListRouteOptions<Item extends object> = mounting.ListRouteOptions<Item, RoutedContext>
export type LogRoutesOptions = mounting.LogRoutesOptions<KoaContext>
export type SubscriptionRoutesOptions = mounting.SubscriptionRoutesOptions<KoaContext>
export type ViewRoutesOptions = mounting.ViewRoutesOptions<KoaContext>

/** Koa middleware that answers probes. */
export const auditHealth = /* @__PURE__ */ mounting.auditHealth(host)
/** Koa middleware that serves the audit page. */
export const auditPage = /* @__PURE__ */ mounting.auditPage(host)
/** Koa middleware that serves the event feed. */
export const auditRoutes = /* @__PURE__ */ mounting.auditRoutes(host)
/** Koa middleware that serves many logs. */
export const logRoutes = /* @__PURE__ */ mounting.logRoutes(host)
/** Koa middleware by which users manage subscriptions. */
export const subscriptionRoutes = /* @__PURE__ */ mounting.subscriptionRoutes(host)
/** Koa middleware by which users save named views. */
export const viewRoutes = /* @__PURE__ */ mounting.viewRoutes(host)
/** Koa middleware that serves a list of the host's own resources. */
export const listRoute = /* @__PURE__ */ mounting.listRoute<RoutedContext, KoaMiddleware>(
  (respond) => mount(mounting.ofReads(respond), mounting.noUser),
)
