import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { type RunningService, startService } from '../../examples/workflow-service/app.js'
import type { CreatePlace, EventPlace } from './event-stores.js'
import {
  JSON_API,
  type ListDocument,
  listOf,
  type RawRequest,
  type RawResponse,
  send,
  serve,
  type ServeOptions,
  type TestServer,
} from './http.js'

export type Attributes = Readonly<Record<string, unknown>>
export type Resource = ListDocument['data'][number]

/** Encodes the characters that a query string cannot contain. Brackets stay unchanged. */
export const spaced = (query: string): string => query.replaceAll(' ', '%20')

/** A client of one server. */
export interface Client {
  send(path: string, request?: RawRequest): Promise<RawResponse>
  /** The events that match a query. */
  events(query: string): Promise<readonly Resource[]>
  /** Polls until the query matches some event. */
  waitFor(query: string): Promise<readonly Resource[]>
  /** Sends a JSON:API document with these attributes, as `ann` by default. */
  write(
    method: 'POST' | 'PATCH',
    path: string,
    type: string,
    attributes: Attributes,
    user?: string,
  ): Promise<RawResponse>
  /** Calls an action that takes no document. */
  act(path: string, user?: string): Promise<RawResponse>
}

const TRIES = 500

export function clientOf(url: () => string): Client {
  const sendTo: Client['send'] = (path, request) => send(url(), path, request)
  const events: Client['events'] = async (query) => {
    const response = await sendTo(`/api/events?${spaced(query)}`)
    expect(response.status, response.body).toBeLessThan(300)
    return listOf(response).data
  }
  return {
    send: sendTo,
    events,
    async waitFor(query) {
      for (let tries = 0; tries < TRIES; tries++) {
        const found = await events(query)
        if (found.length > 0) return found
        await delay(40)
      }
      throw new Error(`no event matched ${query}`)
    },
    write: (method, path, type, attributes, user = 'ann') =>
      sendTo(path, {
        method,
        user,
        headers: { 'content-type': JSON_API },
        body: JSON.stringify({ data: { type, attributes } }),
      }),
    act: (path, user = 'ann') => sendTo(path, { method: 'POST', user }),
  }
}

/** The time of an event in the format of filters. Without an event, a time before all events. */
export const timeOf = (event: Resource | undefined): string =>
  event ? String(event.attributes['created_at']) : '2000-01-01'

/** A place and the host that runs on it, for all tests of a `describe`. */
export function useHost<Host extends { close(): Promise<void> }>(
  create: CreatePlace,
  start: (place: EventPlace) => Promise<Host>,
): () => Host {
  let place: EventPlace
  let host: Host
  beforeAll(async () => {
    place = await create()
    host = await start(place)
  })
  afterAll(async () => {
    await host.close()
    await place.remove()
  })
  return () => host
}

/** A Koa host with the feed. */
export function useServer(create: CreatePlace, options?: ServeOptions): () => TestServer {
  return useHost(create, (place) => serve({ ...options, store: place.open() }))
}

/** The demo service, without its simulated users. */
export function useDemo(create: CreatePlace): () => RunningService {
  return useHost(create, ({ demo }) => startService({ port: 0, store: demo, traffic: false }))
}

export const resourceOf = (response: RawResponse): Resource => {
  expect(response.status, response.body).toBeLessThan(300)
  return (JSON.parse(response.body) as { data: Resource }).data
}
