import { noPromise } from '../record/no-promise.js'
import {
  type RecordingAudit,
  type RecordRequests,
  REQUEST_RECORDER_OPTIONS,
  type RequestRecorderOptions,
} from '../record/recorder-options.js'
import { fail } from './exchange.js'
import type { NodeListener, NodeMiddleware, NodeRequest } from './node.js'
import { nodeRecorder } from './request-recorder.js'
import { noteThrown } from './thrown.js'
import { checkOptions, type OptionNames } from '../../options.js'

export interface RecordRequestsOptions extends RequestRecorderOptions<NodeRequest> {
  /**
   * The path of the route that handles a request, with its parameters: `/orders/:id`. The event is named
   * after it. Called before the request is handled if it is `required`, and at the end of its response.
   * @default undefined: the event is named `unmatched:<verb>`
   */
  route?(request: NodeRequest): string | undefined
  /**
   * The address of the client. Behind a proxy it must be read from a header that the proxy sets.
   * @default the remote address of the socket
   */
  address?(request: NodeRequest): string
}

const RECORD_OPTIONS: OptionNames<RecordRequestsOptions> = {
  ...REQUEST_RECORDER_OPTIONS,
  address: true,
  route: true,
}

const paramsOf = (request: NodeRequest): object => {
  const { params } = request as { readonly params?: unknown }
  return typeof params === 'object' && params !== null ? params : {}
}

/**
 * Middleware of Connect that records requests. With `node:http` alone: `record(request, response, () => …)`, or
 * {@link recordListener}. The message and backtrace of an error are recorded with {@link recordErrors}.
 */
export const recordRequests: RecordRequests<RecordRequestsOptions, NodeMiddleware> = (
  audit,
  options = {},
) => {
  checkOptions(options, RECORD_OPTIONS, 'recordRequests')
  return nodeRecorder(audit, options, {
    address: (request) => options.address?.(request) ?? request.socket.remoteAddress ?? '',
    route: (request) => {
      const path = noPromise(options.route?.(request))
      return path === undefined ? undefined : { path, params: paramsOf(request) }
    },
  })
}

/** A request listener of `node:http`; may return a promise. */
export type RecordedListener = (...exchange: Parameters<NodeListener>) => unknown

/**
 * Returns the listener with its requests recorded, as {@link recordRequests} does. If it throws or its
 * promise rejects, the event has the error, the error becomes a process warning, and the response is 500.
 */
export function recordListener(
  audit: RecordingAudit,
  listener: RecordedListener,
  options: RecordRequestsOptions = {},
): NodeListener {
  const record = recordRequests(audit, options)
  return function recordListener(request, response) {
    const run = async (): Promise<void> => {
      try {
        await listener(request, response)
      } catch (error) {
        noteThrown(request, error)
        await fail({ request, response, next: undefined }, error)
      }
    }
    record(request, response, () => void run())
  }
}
