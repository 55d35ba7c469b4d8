/* SPDX-License-Identifier: MIT
 *
 * form.c: look-ups in a form. See form.h.
 */
#include "layout/form.h"

#include <stdlib.h>

void pe__form_clear(struct pe__form *f)
{
    free(f->row);
    free(f->segment);
    free(f->sequence);
    free(f->past_before);
    free(f->offset);
    free(f->lane);
    free(f->lane_end);
    free(f->source);
    *f = (struct pe__form){0};
}

size_t pe__form_bytes(const struct pe__form *f)
{
    size_t per_segment = sizeof *f->segment + (f->lane ? sizeof *f->lane : 0) +
                         (f->lane_end ? sizeof *f->lane_end : 0) +
                         (f->source ? sizeof *f->source : 0);
    size_t per_sequence = sizeof *f->sequence + (f->past_before ? sizeof *f->past_before : 0) +
                          (f->offset ? sizeof *f->offset : 0);
    return ((size_t)f->rows + 1) * sizeof *f->row + f->room_segments * per_segment +
           f->room_sequences * per_sequence;
}

int64_t pe__tail_cover(const struct pe__form *f, uint32_t sequence)
{
    int64_t row = f->sequence[sequence].row;
    return sequence == pe__row_last_sequence(f, row) ? f->width - f->row[row].cover : 0;
}

uint32_t pe__last_tokens(const struct pe__form *f, uint32_t sequence)
{
    const struct pe__sequence *s = &f->sequence[sequence];
    if (s->segment == PE__NONE)
        return PE__NONE;
    uint32_t end = f->row[s->row + 1].segment;
    if (sequence + 1 < f->row[s->row + 1].sequence && s[1].segment != PE__NONE)
        end = s[1].segment;
    uint32_t anchor = f->segment[end - 1].anchor;
    return anchor != PE__NONE && anchor >= s->segment ? anchor : PE__NONE;
}

int64_t pe__row_base(const struct pe__form *f, int64_t row)
{
    const struct pe__row *r = &f->row[row];
    if (r->first_tokens != PE__NONE)
        return f->segment[r->first_tokens].position;
    bool own = f->q->restart && !f->q->given[PE_OPTION_SEGMENTS] && r[0].segment < r[1].segment;
    return own ? f->segment[r->segment].position : f->q->start;
}

uint32_t pe__segment_at(const struct pe__form *f, int64_t row, int64_t flat)
{
    uint32_t lo = f->row[row].segment, hi = f->row[row + 1].segment, first = lo;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (f->segment[mid].slot <= flat)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > first ? lo - 1 : PE__NONE;
}

uint32_t pe__room_at(const struct pe__form *f, int64_t flat)
{
    uint32_t lo = 0, hi = f->sequences;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (pe__room(f, mid) <= flat)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}
