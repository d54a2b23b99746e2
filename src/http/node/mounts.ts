import * as mounting from '../mounting/mounts.js'
import { mount } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

export type AuditHealthOptions = mounting.AuditHealthOptions<NodeRequest>
export type AuditPageOptions = mounting.AuditPageOptions<NodeRequest>
export type AuditRoutesOptions = mounting.AuditRoutesOptions<NodeRequest>
export type ListRouteOptions<Item extends object> = mounting.ListRouteOptions<Item, NodeRequest>
export type LogRoutesOptions = mounting.LogRoutesOptions<NodeRequest>
export type SubscriptionRoutesOptions = mounting.SubscriptionRoutesOptions<NodeRequest>
export type ViewRoutesOptions = mounting.ViewRoutesOptions<NodeRequest>

const host: mounting.MountHost<NodeRequest, NodeListener> = { mount }

/** Listener, or middleware of Express and Connect, that answers probes. */
export const auditHealth = /* @__PURE__ */ mounting.auditHealth(host)
/** Listener, or middleware of Express and Connect, that serves the audit page. */
export const auditPage = /* @__PURE__ */ mounting.auditPage(host)
/** Listener, or middleware of Express and Connect, that serves the event feed. */
export const auditRoutes = /* @__PURE__ */ mounting.auditRoutes(host)
/** Listener, or middleware of Express and Connect, that serves many logs. */
export const logRoutes = /* @__PURE__ */ mounting.logRoutes(host)
/** Listener, or middleware of Express and Connect, by which users manage subscriptions. */
export const subscriptionRoutes = /* @__PURE__ */ mounting.subscriptionRoutes(host)
/** Listener, or middleware of Express and Connect, by which users save named views. */
export const viewRoutes = /* @__PURE__ */ mounting.viewRoutes(host)
/** Listener, or middleware of Express and Connect, that serves a list of the host's own resources. */
export const listRoute = /* @__PURE__ */ mounting.listRoute<NodeRequest, NodeListener>((respond) =>
  mount(mounting.ofReads(respond), mounting.noUser),
)
