import { setTimeout as delay } from 'node:timers/promises'
import { JSON_API } from '../problem.js'

export type User = 'ann' | 'bob' | 'eve'

export interface Found {
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A simulated user's way to the service: over HTTP, as anyone else's. */
export interface Client {
  /** The resource that the service answers with, where it answers with one. */
  send(user: User, request: string, type?: string, attributes?: object): Promise<Found | undefined>
  list(path: string): Promise<readonly Found[]>
  /** Lets the time pass that a person takes. */
  think(): Promise<void>
}

const LEAST_PAUSE_MS = 1000
const MORE_PAUSE_MS = 2000

export function createClient(url: string, signal: AbortSignal): Client {
  const request = async (user: User, method: string, path: string, document?: object) => {
    const authorization = `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`
    const headers = { authorization, ...(document && { 'content-type': JSON_API }) }
    const body = document && JSON.stringify(document)
    const response = await fetch(url + path, { method, headers, signal, ...(body && { body }) })
    const text = await response.text()
    return text === '' ? {} : (JSON.parse(text) as { data?: unknown })
  }

  const think = async (): Promise<void> => {
    await delay(LEAST_PAUSE_MS + Math.random() * MORE_PAUSE_MS, undefined, { signal })
  }

  return {
    think,
    send: async (user, line, type, attributes) => {
      await think()
      const [method = '', path = ''] = line.split(' ')
      const document = type === undefined ? undefined : { data: { type, attributes } }
      return (await request(user, method, path, document)).data as Found | undefined
    },
    list: async (path) => ((await request('bob', 'GET', path)).data ?? []) as Found[],
  }
}
