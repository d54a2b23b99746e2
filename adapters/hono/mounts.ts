import * as mounting from '../../src/http/mounting/mounts.js'
import { host, listHandler } from './exchange.js'
import type { HonoContext, HonoHandler } from './hono.js'

export type AuditHealthOptions = mounting.AuditHealthOptions<HonoContext>
export type AuditPageOptions = mounting.AuditPageOptions<HonoContext>
export type AuditRoutesOptions = mounting.AuditRoutesOptions<HonoContext>
export type ListRouteOptions<Item extends object> = mounting.ListRouteOptions<Item, HonoContext>
export type LogRoutesOptions = mounting.LogRoutesOptions<HonoContext>
export type SubscriptionRoutesOptions = mounting.SubscriptionRoutesOptions<HonoContext>
export type ViewRoutesOptions = mounting.ViewRoutesOptions<HonoContext>

/** Hono middleware that answers probes. */
export const auditHealth = /* @__PURE__ */ mounting.auditHealth(host)
/** Hono middleware that serves the audit page. */
export const auditPage = /* @__PURE__ */ mounting.auditPage(host)
/** Hono middleware that serves the event feed. */
export const auditRoutes = /* @__PURE__ */ mounting.auditRoutes(host)
/** Hono middleware that serves many logs. */
export const logRoutes = /* @__PURE__ */ mounting.logRoutes(host)
/** Hono middleware by which users manage subscriptions. */
export const subscriptionRoutes = /* @__PURE__ */ mounting.subscriptionRoutes(host)
/** Hono middleware by which users save named views. */
export const viewRoutes = /* @__PURE__ */ mounting.viewRoutes(host)
/** Handler of Hono that serves a list of the host's own resources. */
export const listRoute = /* @__PURE__ */ mounting.listRoute<HonoContext, HonoHandler>(listHandler)
