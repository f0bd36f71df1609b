// The scanline rasteriser of images and shadow map.
#pragma once

#include <algorithm>
#include <vector>

#include "state.h"

struct Corner {
    float x, y, q;  // pixels; q: the value that decides which surface is visible, larger wins
};

// Coefficients of q = x * a + y * b + c, where they are known more precisely than from the corners.
struct Plane {
    double a, b, c;
};

INLINE int ceiling(float x) {
    int whole = (int)x;
    return whole + ((float)whole < x);
}

// Draw a triangle into `buffer`, and its number into `ids` if IDS. A pixel belongs to it if its
// centre does; of neighbours with a common edge exactly one gets it. Returns whether a pixel was
// inside, and then fills `record` if IDS.
template <bool IDS>
INLINE bool scan(Corner a, Corner b, Corner c, int width, int height, int stride, float* buffer,
                 uint32_t* ids, uint32_t id, const float* ramp, bool one_sided, Triangle* record,
                 const Plane* plane = nullptr) {
    float low_y = std::min(a.y, std::min(b.y, c.y)), high_y = std::max(a.y, std::max(b.y, c.y));
    float low_x = std::min(a.x, std::min(b.x, c.x)), high_x = std::max(a.x, std::max(b.x, c.x));
    if (!(high_y >= 0 && low_y <= height - 1 && high_x >= 0 && low_x <= width - 1)) return false;
    // Thin triangles need double precision.
    double x1 = (double)b.x - a.x, y1 = (double)b.y - a.y, x2 = (double)c.x - a.x, y2 = (double)c.y - a.y;
    double area = x1 * y2 - x2 * y1;
    if (one_sided ? !(area < 0) : area == 0) return false;
    int y_begin = low_y <= 0 ? 0 : ceiling(low_y), y_end = high_y > height - 1 ? height : ceiling(high_y);
    int x_begin = low_x <= 0 ? 0 : ceiling(low_x), x_end = high_x > width - 1 ? width : ceiling(high_x);
    if (y_begin >= y_end || x_begin >= x_end) return false;

    double inverse = 1 / area, q1 = (double)b.q - a.q, q2 = (double)c.q - a.q;
    float slope_x = (float)((q1 * y2 - q2 * y1) * inverse), slope_y = (float)((q2 * x1 - q1 * x2) * inverse);
    float q0 = a.q;
    if (plane) {
        slope_x = (float)plane->a, slope_y = (float)plane->b;
        q0 = (float)(plane->a * a.x + plane->b * a.y + plane->c);
    }
    Corner top = a, middle = b, bottom = c;
    if (top.y > middle.y) std::swap(top, middle);
    if (middle.y > bottom.y) std::swap(middle, bottom);
    if (top.y > middle.y) std::swap(top, middle);
    float along = (bottom.x - top.x) / (bottom.y - top.y);
    float upper = middle.y > top.y ? (middle.x - top.x) / (middle.y - top.y) : 0;
    float lower = bottom.y > middle.y ? (bottom.x - middle.x) / (bottom.y - middle.y) : 0;
    bool drawn = false;
    for (int y = y_begin; y < y_end; ++y) {
        float at = (float)y, one = top.x + (at - top.y) * along;
        float other = at < middle.y ? top.x + (at - top.y) * upper : middle.x + (at - middle.y) * lower;
        float left = std::max(std::min(one, other), (float)x_begin);
        float right = std::min(std::max(one, other), (float)x_end);
        if (!(left < right)) continue;  // also if a coordinate is not a number
        int x = ceiling(left), end = ceiling(right);
        if (x >= end) continue;
        drawn = true;
        float base = q0 + (at - a.y) * slope_y - a.x * slope_x;
        float* row = buffer + (size_t)y * stride;
        uint32_t* id_row = IDS ? ids + (size_t)y * stride : nullptr;
        for (; x + LANES <= end; x += LANES) {
            Floats value = base + load(ramp + x) * slope_x, old = load(row + x);
            Ints nearer = value > old;
            store(row + x, choose(nearer, value, old));
            if (IDS) {
                Ints before;
                std::memcpy(&before, id_row + x, sizeof before);
                before = ((Ints{} + (int32_t)id) & nearer) | (before & ~nearer);
                std::memcpy(id_row + x, &before, sizeof before);
            }
        }
        for (; x < end; ++x) {
            float value = base + ramp[x] * slope_x;
            if (!(value > row[x])) continue;
            row[x] = value;
            if (IDS) id_row[x] = id;
        }
    }
    if (IDS && drawn) {
        record->x = a.x, record->y = a.y;
        record->u[0] = (float)(y2 * inverse), record->u[1] = (float)(-x2 * inverse);
        record->v[0] = (float)(-y1 * inverse), record->v[1] = (float)(x1 * inverse);
        record->q = q0, record->slope_q[0] = slope_x, record->slope_q[1] = slope_y;
        record->prepared = false;
    }
    return drawn;
}

// Transform the vertices of a part into r.x, r.y, r.z with a 3x4 matrix, rows one after another.
INLINE void transform(Renderer& r, const Part& part, const float* m) {
    const float* vx = r.scene.x + part.first_vertex;
    const float* vy = r.scene.y + part.first_vertex;
    const float* vz = r.scene.z + part.first_vertex;
    for (int i = 0; i < part.vertices; i += LANES) {
        Floats x = load(vx + i), y = load(vy + i), z = load(vz + i);
        store(&r.x[i], x * m[0] + y * m[1] + z * m[2] + m[3]);
        store(&r.y[i], x * m[4] + y * m[5] + z * m[6] + m[7]);
        store(&r.z[i], x * m[8] + y * m[9] + z * m[10] + m[11]);
    }
}
