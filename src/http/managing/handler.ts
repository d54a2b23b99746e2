import type { JsonObject } from '../../event/event.js'
import { currentActor, withActor } from '../../recording/actor.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import { finalizeResponse } from '../finalize-response.js'
import { checkAccept, jsonResponse } from '../media.js'
import { refuseParameters } from '../parameters.js'
import { jsonapi, JSON_API } from '../problem.js'
import { readDocument } from './request-body.js'

/* Resources that users manage over HTTP. They have owners, such as subscriptions and views. */

/** A request whose user is authenticated and authorized. */
export interface ManagementCall<Action extends string = string> {
  readonly request: HttpRequest
  readonly username: string
  /** The id in the path; empty if there is none. */
  readonly id: string
  /** False if the user may act on their own resources only. */
  readonly seesAll: boolean
  /** Resolves to true if the user is allowed another action too. Asks the host. */
  may(action: Action): Promise<boolean>
  /** Resolves to the rights of the user. Asks the host about each action. */
  readonly rights: () => Promise<Readonly<Record<Action, boolean>>>
}

export type ManagementHandler<Action extends string = string> = (
  call: ManagementCall<Action>,
) => Promise<HttpResponse>

/** Checks a request that reads, and completes the response. */
export const reading =
  <Action extends string>(
    respond: (call: ManagementCall<Action>) => Promise<string>,
  ): ManagementHandler<Action> =>
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
  <Action extends string>(
    respond: (call: ManagementCall<Action>, document: JsonObject) => Promise<Changed>,
  ): ManagementHandler<Action> =>
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
  <Action extends string>(
    remove: (call: ManagementCall<Action>) => Promise<void>,
  ): ManagementHandler<Action> =>
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
