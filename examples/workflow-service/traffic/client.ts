import { setTimeout as delay } from 'node:timers/promises'
import { JSON_API } from '../problem.js'

export type User = 'ann' | 'bob' | 'eve'

export interface Found {
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
}

/** Sends the requests of simulated users over HTTP. */
export interface Client {
  /** Returns the resource in the response, if there is one. */
  send(user: User, request: string, type?: string, attributes?: object): Promise<Found | undefined>
  list(path: string): Promise<readonly Found[]>
  /** Waits as long as a person takes between two requests. */
  think(): Promise<void>
}

const MIN_PAUSE_MS = 1000
const MAX_PAUSE_MS = 3000

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
    await delay(MIN_PAUSE_MS + Math.random() * (MAX_PAUSE_MS - MIN_PAUSE_MS), undefined, { signal })
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
