import * as mounting from '../../src/http/mounting/mounts.js'
import { host, listHandler, probes } from './exchange.js'
import type { FastifyHandler, FastifyRequest } from './fastify.js'

export type AuditHealthOptions = mounting.AuditHealthOptions<FastifyRequest>
export type AuditPageOptions = mounting.AuditPageOptions<FastifyRequest>
export type AuditRoutesOptions = mounting.AuditRoutesOptions<FastifyRequest>
export type ListRouteOptions<Item extends object> = mounting.ListRouteOptions<Item, FastifyRequest>
export type LogRoutesOptions = mounting.LogRoutesOptions<FastifyRequest>
export type SubscriptionRoutesOptions = mounting.SubscriptionRoutesOptions<FastifyRequest>
export type ViewRoutesOptions = mounting.ViewRoutesOptions<FastifyRequest>

/** Fastify plugin that answers probes. It answers in the hook `onRequest`: register it on the app itself. */
export const auditHealth = /* @__PURE__ */ mounting.auditHealth(probes)
/** Fastify plugin that serves the audit page. */
export const auditPage = /* @__PURE__ */ mounting.auditPage(host)
/** Fastify plugin that serves the event feed. With a prefix, `path` includes the prefix. */
export const auditRoutes = /* @__PURE__ */ mounting.auditRoutes(host)
/** Fastify plugin that serves many logs. */
export const logRoutes = /* @__PURE__ */ mounting.logRoutes(host)
/** Fastify plugin by which users manage subscriptions. */
export const subscriptionRoutes = /* @__PURE__ */ mounting.subscriptionRoutes(host)
/** Fastify plugin by which users save named views. */
export const viewRoutes = /* @__PURE__ */ mounting.viewRoutes(host)
/** Handler of Fastify that serves a list of the host's own resources. */
export const listRoute = /* @__PURE__ */ mounting.listRoute<FastifyRequest, FastifyHandler>(
  listHandler,
)
