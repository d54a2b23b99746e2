import { type Actor, currentActor, withActor } from '../../src/recording/actor.js'
import type { FastifyReply, FastifyRequest } from './fastify.js'

const actors = new WeakMap<object, Actor>()

/** Keeps the current actor for the handler: Fastify reads the body in another asynchronous context. */
export function keepActor(request: object): void {
  const actor = currentActor()
  if (actor) actors.set(request, actor)
}

/** A hook that continues as the actor that was kept. */
export function continueAsActor(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: () => void,
): void {
  const actor = actors.get(request)
  if (actor) withActor(actor, () => done())
  else done()
}
