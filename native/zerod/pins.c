/* SPDX-License-Identifier: Apache-2.0 */
/* pins: one call for each chunk, because drivers refuse very large ones (CUDA R580: 512 GiB and
 * more), and with other drivers a large call takes long and blocks everything else. */
#include "pins.h"

#include <errno.h>
#include <stdlib.h>

void zerod_pins_drop(struct zerod_pins *pins, const struct zerod_use *use)
{
    while (pins->count)
        use->engine->unpin(use->state, pins->pin[--pins->count]);
    free(pins->pin);
    pins->pin = NULL;
}

int zerod_pins_make(struct zerod_pins *pins, const struct zerod_use *use, void *base, size_t bytes,
                    size_t unit)
{
    size_t chunk;
    int rc = 0;

    *pins = (struct zerod_pins){.base = base};
    if (!use->engine->pin)
        return 0;
    chunk = use->engine->chunk(use->state);
    if (use->chunk && use->chunk < chunk)
        chunk = use->chunk;
    chunk -= chunk % unit;
    if (!chunk)
        return -E2BIG;
    pins->chunk = chunk;
    pins->pin = calloc((bytes + chunk - 1) / chunk, sizeof(*pins->pin));
    if (!pins->pin)
        return -ENOMEM;
    for (size_t done = 0; done < bytes && !rc; done += chunk) {
        size_t now = bytes - done < chunk ? bytes - done : chunk;

        rc = use->engine->pin(use->state, pins->base + done, now, &pins->pin[pins->count]);
        if (!rc)
            pins->count++;
    }
    if (rc)
        zerod_pins_drop(pins, use);
    return rc;
}

struct zerod_range zerod_pins_range(const struct zerod_pins *pins, void *at, size_t bytes)
{
    struct zerod_range range = {.at = at, .bytes = bytes};
    size_t offset = (size_t)(range.at - pins->base);

    if (pins->pin) {
        range.pin = pins->pin[offset / pins->chunk];
        range.offset = offset % pins->chunk;
    }
    return range;
}
