export { webhook, type WebhookOptions } from './webhook.js'
