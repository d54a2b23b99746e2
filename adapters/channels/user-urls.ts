import { CONNECTION_OPTIONS, type ConnectionOptions, readConnections } from './connections.js'
import { invalidChannel } from './kind-config.js'
import { addressFault, createPost, type Post, postByAgents } from './post.js'
import { type Fail, readUrl } from './read-options.js'
import { createVettedAgents, loadFilteringAgents, readRanges } from './vetted-agents.js'
import { type OptionNames } from '../../src/options.js'

export interface UserUrlOptions extends ConnectionOptions {
  /**
   * Private addresses to which URLs may lead: single addresses, and ranges in CIDR notation such as `10.20.0.0/16`.
   * @default none
   */
  readonly allow?: readonly string[] | undefined
  /** True for `http:` URLs too. @default only `https:` */
  readonly allowHttp?: boolean | undefined
}

export const USER_URL_OPTIONS: OptionNames<UserUrlOptions> = {
  allow: true,
  allowHttp: true,
  ...CONNECTION_OPTIONS,
}

/** Rules and connections for URLs of users. */
export interface UserUrls {
  readonly allowHttp: boolean
  /** Posts to this URL. Refuses addresses that are not allowed. */
  postTo(url: URL): Post
  /** Rejects with `INVALID_CHANNEL` if the URL leads to an address that is not allowed. */
  vet(url: URL, member: string): Promise<void>
}

/** Throws `INVALID_OPTION`, and `MISSING_DEPENDENCY` if request-filtering-agent is not installed. */
export function openUserUrls(
  { allow = [], allowHttp = false, ...options }: UserUrlOptions,
  fail: Fail,
): UserUrls {
  const connections = readConnections(options, fail)
  const isOwn = connections.agent !== undefined || connections.dispatcher !== undefined
  const ranges = readRanges(allow)
  // A missing package is reported when the service starts, not to users.
  loadFilteringAgents()
  return {
    allowHttp,
    postTo(url) {
      const vetted = createVettedAgents(url, ranges)
      if (!isOwn) return postByAgents(vetted.agents)
      const post = createPost(connections)
      return async (request) => {
        if (await vetted.refuse()) throw addressFault(url)
        await post(request)
      }
    },
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
