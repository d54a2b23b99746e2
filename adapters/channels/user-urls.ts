import { invalidChannel } from './kind-config.js'
import type { Agents } from './post.js'
import { readUrl } from './read-options.js'
import { createVettedAgents, loadFilteringAgents, readRanges } from './vetted-agents.js'
import { type OptionNames } from '../../src/options.js'

export interface UserUrlOptions {
  /**
   * Addresses that URLs may lead to though they are not public: single ones, and ranges in CIDR notation such as `10.20.0.0/16`.
   * @default none
   */
  readonly allow?: readonly string[] | undefined
  /** True for `http:` URLs too. @default only `https:` */
  readonly allowHttp?: boolean | undefined
}

export const USER_URL_OPTIONS: OptionNames<UserUrlOptions> = { allow: true, allowHttp: true }

/** What URLs may be that users give, and how connections to them are made. */
export interface UserUrls {
  readonly allowHttp: boolean
  agentsOf(url: URL): Agents
  /** Rejects with `INVALID_CHANNEL` if the URL leads to an address that is not allowed. */
  vet(url: URL, member: string): Promise<void>
}

/** Throws `INVALID_OPTION`, and `MISSING_DEPENDENCY` if request-filtering-agent is not installed. */
export function openUserUrls({ allow = [], allowHttp = false }: UserUrlOptions): UserUrls {
  const ranges = readRanges(allow)
  // Reports a missing package when the service starts, rather than to users.
  loadFilteringAgents()
  return {
    allowHttp,
    agentsOf: (url) => createVettedAgents(url, ranges).agents,
    async vet(url, member) {
      if (await createVettedAgents(url, ranges).refuse())
        throw invalidChannel(member, 'leads to an address that is not allowed')
    },
  }
}

/** Throws `INVALID_CHANNEL`. */
export function readUserUrl(given: unknown, member: string, { allowHttp }: UserUrls): URL {
  const url = readUrl(given, member, invalidChannel)
  if (url.protocol !== 'https:' && !allowHttp) throw invalidChannel(member, 'must be an https: URL')
  return url
}
