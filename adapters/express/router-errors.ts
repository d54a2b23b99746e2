import { tracingChannel } from 'node:diagnostics_channel'
import { forgetThrown, noteThrown } from '../../src/http/node/thrown.js'

/** Message of Express about a handler that runs; see "Diagnostics" in the README of its package `router`. */
interface RouterTrace {
  readonly req: object
  readonly error?: unknown
  /** True for error-handling middleware. */
  readonly errorHandler?: boolean
}

let isFollowed = false

/** Notes the errors that handlers of Express throw or pass to `next`, for the events of their requests. */
export function followRouterErrors(): void {
  if (isFollowed) return
  isFollowed = true
  const channel = tracingChannel<unknown, RouterTrace>('express.router.request')
  channel.error.subscribe((message) => {
    const { req, error } = message as RouterTrace
    noteThrown(req, error)
  })
  channel.start.subscribe((message) => {
    const { req, errorHandler } = message as RouterTrace
    // Express runs other handlers only if no error is left.
    if (errorHandler !== true) forgetThrown(req)
  })
}
