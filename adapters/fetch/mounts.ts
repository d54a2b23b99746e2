import * as mounting from '../../src/http/mounting/mounts.js'
import { FetchHttpRequest, respond } from '../../src/http/fetch/exchange.js'
import type { Endpoint } from '../../src/http/exchange.js'
import type { FetchMount, FetchRequest } from './fetch.js'

export type AuditHealthOptions = mounting.AuditHealthOptions<FetchRequest>
export type AuditPageOptions = mounting.AuditPageOptions<FetchRequest>
export type AuditRoutesOptions = mounting.AuditRoutesOptions<FetchRequest>
export type ListRouteOptions<Item extends object> = mounting.ListRouteOptions<Item, FetchRequest>
export type LogRoutesOptions = mounting.LogRoutesOptions<FetchRequest>
export type SubscriptionRoutesOptions = mounting.SubscriptionRoutesOptions<FetchRequest>
export type ViewRoutesOptions = mounting.ViewRoutesOptions<FetchRequest>

/** A handler that serves an endpoint, and returns undefined for other requests. */
const mount =
  (
    endpoint: Endpoint<FetchRequest>,
    findUsername: mounting.FindUsername<FetchRequest>,
  ): FetchMount =>
  async (request) => {
    const received = new FetchHttpRequest<FetchRequest>({
      context: request,
      request,
      findUsername: () => findUsername(request),
    })
    const response = await endpoint(received)
    return response && respond(received, response)
  }

const host: mounting.MountHost<FetchRequest, FetchMount> = { mount }

/** Fetch handler that answers probes. */
export const auditHealth = /* @__PURE__ */ mounting.auditHealth(host)
/** Fetch handler that serves the audit page. */
export const auditPage = /* @__PURE__ */ mounting.auditPage(host)
/** Fetch handler that serves the event feed. */
export const auditRoutes = /* @__PURE__ */ mounting.auditRoutes(host)
/** Fetch handler that serves many logs. */
export const logRoutes = /* @__PURE__ */ mounting.logRoutes(host)
/** Fetch handler by which users manage subscriptions. */
export const subscriptionRoutes = /* @__PURE__ */ mounting.subscriptionRoutes(host)
/** Fetch handler by which users save named views. */
export const viewRoutes = /* @__PURE__ */ mounting.viewRoutes(host)
/** Fetch handler that serves a list of the host's own resources. */
export const listRoute = /* @__PURE__ */ mounting.listRoute<FetchRequest, FetchMount>((respond) =>
  mount(mounting.ofReads(respond), mounting.noUser),
)
