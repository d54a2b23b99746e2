import { REDACTED } from '../../src/event/secrets.js'
import type { ChannelKind } from '../../src/subscriptions/channel-kind.js'
import { changedConfig, changedSecret } from './kind-config.js'
import { invalidOption } from './read-options.js'
import { slackChannel } from './slack.js'
import { openUserUrls, readUserUrl, USER_URL_OPTIONS, type UserUrlOptions } from './user-urls.js'
import { checkOptions } from '../../src/options.js'

const URL_MEMBER = 'webhook_url'

/**
 * Channels of Slack, or of a service with the same interface, that users create at run time. Their `config` has `webhook_url`,
 * which is stored encrypted and shown as `[redacted]`. It leads to public addresses only. Throws `INVALID_OPTION`, and
 * `MISSING_DEPENDENCY` if request-filtering-agent is not installed.
 */
export function slackKind(options: UserUrlOptions = {}): ChannelKind {
  checkOptions(options, USER_URL_OPTIONS, 'slackKind')
  const urls = openUserUrls(options, invalidOption('slackKind'))
  return {
    async read(given, present) {
      const config = changedConfig(given, present, [URL_MEMBER])
      const stored = present?.secrets[URL_MEMBER]
      const url = readUserUrl(changedSecret(config[URL_MEMBER], stored), URL_MEMBER, urls)
      if (url.href !== stored) await urls.vet(url, URL_MEMBER)
      return { config: { [URL_MEMBER]: REDACTED }, secrets: { [URL_MEMBER]: url.href } }
    },
    open({ secrets }) {
      const url = readUserUrl(secrets[URL_MEMBER], URL_MEMBER, urls)
      return slackChannel({ url }, urls.postTo(url))
    },
  }
}
