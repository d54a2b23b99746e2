import type { ChannelKind } from 'daybook'
import { webhook } from 'daybook/channels'

const SECRET_BYTES = 24
let made = 0

/** Webhooks of users that may lead to this computer. */
export const webhookKind: ChannelKind = {
  read: ({ url }, present) => {
    const secret = `whsec_${Buffer.alloc(SECRET_BYTES, (made += 1)).toString('base64')}`
    return {
      config: { url: url ?? present!.config['url']! },
      secrets: present?.secrets ?? { secret },
      secret: present ? undefined : secret,
    }
  },
  open: ({ config, secrets }) =>
    webhook({ url: config['url'] as string, secret: secrets['secret'] as string }),
  rotate({ config }) {
    const secret = `whsec_${Buffer.alloc(SECRET_BYTES, (made += 1)).toString('base64')}`
    return { config, secrets: { secret }, secret }
  },
}
