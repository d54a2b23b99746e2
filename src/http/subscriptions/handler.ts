import type { AuditLog } from '../../audit-log.js'
import type { JsonObject } from '../../event/event.js'
import { currentActor, withActor } from '../../recording/actor.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import { finalizeResponse } from '../finalize-response.js'
import { checkAccept, jsonResponse } from '../media.js'
import { refuseParameters } from '../parameters.js'
import { jsonapi, JSON_API } from '../problem.js'
import type { SubscriptionsAction } from './actions.js'
import { readDocument } from './request-body.js'

/** The part of an audit log that the endpoints need. */
export type ManagedAudit = Pick<AuditLog, 'subscriptions'>

/** A request whose user is authenticated and authorized. */
export interface ManagementCall {
  readonly request: HttpRequest
  readonly username: string
  /** The id in the path; empty if there is none. */
  readonly id: string
  /** False if the user may act on the own subscriptions only. */
  readonly seesAll: boolean
  /** Calls functions of the host. */
  readonly rights: () => Promise<Readonly<Record<SubscriptionsAction, boolean>>>
}

export type ManagementHandler = (call: ManagementCall) => Promise<HttpResponse>

/** Checks a request that reads, and completes the response. */
export const reading =
  (respond: (call: ManagementCall) => Promise<string>): ManagementHandler =>
  async (call) => {
    const { request } = call
    checkAccept(request.header('accept'))
    refuseParameters(request.query)
    return finalizeResponse(request, jsonResponse(200, await respond(call)))
  }

/** Runs as the user of the request, whom recorded events name. */
function asUser<Result>({ username }: ManagementCall, run: () => Promise<Result>): Promise<Result> {
  // The actor of the request may have more fields than the name.
  return currentActor()?.username === username ? run() : withActor(username, run)
}

/** The response to a request that changes something. */
export interface Changed {
  /** @default 200 */
  readonly status?: number
  readonly location?: string
  readonly body: string
}

/** Checks a request that changes something, reads its document and completes the response. */
export const changing =
  (respond: (call: ManagementCall, document: JsonObject) => Promise<Changed>): ManagementHandler =>
  async (call) => {
    const { request } = call
    checkAccept(request.header('accept'))
    refuseParameters(request.query)
    const document = await readDocument(request)
    const { status = 200, location, body } = await asUser(call, () => respond(call, document))
    return {
      status,
      headers: {
        'content-type': JSON_API,
        'cache-control': 'no-store',
        ...(location !== undefined && { location }),
      },
      body,
    }
  }

/** Checks a request that removes the resource. */
export const removing =
  (remove: (call: ManagementCall) => Promise<void>): ManagementHandler =>
  async (call) => {
    refuseParameters(call.request.query)
    await asUser(call, () => remove(call))
    return { status: 204, headers: { 'cache-control': 'no-store' }, body: undefined }
  }

/** A resource object (JSON:API 1.1). */
export interface Resource {
  readonly type: string
  readonly id: string
  readonly attributes: object
  readonly links: { readonly self: string }
}

export const resourceDocument = (data: Resource, meta?: object): string =>
  JSON.stringify({ jsonapi, data, ...(meta && { meta }), links: data.links })

export const metaDocument = ({ request }: ManagementCall, meta: object): string =>
  JSON.stringify({ jsonapi, meta, links: { self: request.path } })
