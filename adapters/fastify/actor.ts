import { bindActor, currentActor } from '../../src/recording/actor.js'
import type { FastifyReply, FastifyRequest } from './fastify.js'

const continuations = new WeakMap<object, (done: () => void) => void>()

const proceed = (done: () => void): void => done()

/** Keeps the current actor for the handler: Fastify reads the body in another asynchronous context. */
export function keepActor(request: object): void {
  if (currentActor()) continuations.set(request, bindActor(proceed))
}

/** A hook that continues as the actor that was kept. */
export function continueAsActor(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: () => void,
): void {
  const continueWith = continuations.get(request) ?? proceed
  continueWith(() => done())
}
