import { computed } from '@preact/signals'
import { ApiError } from '../data/api.js'
import { failure } from './loading.js'

/** Who asks is not known (401), or may not read (403). */
export const refusal = computed(() => {
  const { value: error } = failure
  const isRefusal = error instanceof ApiError && (error.status === 401 || error.status === 403)
  return isRefusal ? error.status : undefined
})
