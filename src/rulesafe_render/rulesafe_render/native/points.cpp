// Farthest-point sampling. Coordinates are small integers, so that all arithmetic is exact.
#include <algorithm>
#include <vector>

#include "simd.h"

namespace {

constexpr int BLOCK = 32;  // neighbouring points that are skipped together
constexpr int CELLS = 16;  // per axis, of the grid by which points are sorted; of 128 units each

int cell(float coordinate) {
    float at = (coordinate + 1024) / 128;
    return at > 0 ? (at < CELLS - 1 ? (int)at : CELLS - 1) : 0;
}

float largest(Floats values) {
    float most = values[0];
    for (int i = 1; i < LANES; ++i) most = std::max(most, values[i]);
    return most;
}

struct Sampler {
    int blocks;
    std::vector<float> place[3], nearest;   // of the sorted points; nearest: squared distance to the
    std::vector<int> number;                // nearest selected point, -1: selected
    std::vector<float> low[3], high[3], farthest;  // of the blocks; farthest: maximum of `nearest`

    Sampler(const float* points, int count) : blocks((count + BLOCK - 1) / BLOCK) {
        std::vector<int> cell_of(count), start(CELLS * CELLS * CELLS + 1);
        for (int i = 0; i < count; ++i) {
            const float* p = points + 3 * (size_t)i;
            cell_of[i] = (cell(p[0]) * CELLS + cell(p[1])) * CELLS + cell(p[2]);
            ++start[cell_of[i] + 1];
        }
        for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
        number.resize(count);
        for (int i = 0; i < count; ++i) number[start[cell_of[i]]++] = i;
        const int padded = (blocks + LANES - 1) / LANES * LANES;
        nearest.assign((size_t)blocks * BLOCK, -1);
        std::fill(nearest.begin(), nearest.begin() + count, 1e9f);
        farthest.assign(padded, -2);
        std::fill(farthest.begin(), farthest.begin() + blocks, 1e9f);
        for (int axis = 0; axis < 3; ++axis) {
            place[axis].resize(nearest.size());
            for (int i = 0; i < count; ++i) place[axis][i] = points[3 * (size_t)number[i] + axis];
            std::fill(place[axis].begin() + count, place[axis].end(), place[axis][count - 1]);
            low[axis].resize(padded), high[axis].resize(padded);
            for (int block = 0; block < blocks; ++block) {
                auto [least, most] = std::minmax_element(&place[axis][block * BLOCK], &place[axis][block * BLOCK] + BLOCK);
                low[axis][block] = *least, high[axis][block] = *most;
            }
        }
    }

    void update(int block, const float* from) {
        Floats most = all(-1);
        for (int i = block * BLOCK; i < (block + 1) * BLOCK; i += LANES) {
            Floats x = load(&place[0][i]) - from[0], y = load(&place[1][i]) - from[1], z = load(&place[2][i]) - from[2];
            Floats value = least(x * x + y * y + z * z, load(&nearest[i]));
            store(&nearest[i], value);
            most = greatest(most, value);
        }
        farthest[block] = largest(most);
    }

    // Mark a sorted point as selected; blocks that are farther away than their `nearest` keep them.
    void select(int point) {
        const float from[3] = {place[0][point], place[1][point], place[2][point]};
        nearest[point] = -1;
        for (int first = 0; first < blocks; first += LANES) {
            Floats square = {};
            for (int axis = 0; axis < 3; ++axis) {
                Floats outside = greatest(load(&low[axis][first]) - from[axis], from[axis] - load(&high[axis][first]));
                outside = greatest(outside, all(0));
                square += outside * outside;
            }
            Ints near = square < load(&farthest[first]);
            if (!any(near)) continue;
            for (int i = 0; i < LANES; ++i)
                if (near[i]) update(first + i, from);
        }
        update(point / BLOCK, from);
    }

    // The sorted point that is farthest from those selected; of several the first given one.
    int find() const {
        Floats highest = all(-2);
        for (int first = 0; first < blocks; first += LANES) highest = greatest(highest, load(&farthest[first]));
        const float most = largest(highest);
        int found = -1;
        for (int first = 0; first < blocks; first += LANES) {
            Ints candidates = load(&farthest[first]) == most;
            if (!any(candidates)) continue;
            for (int lane = 0; lane < LANES; ++lane) {
                const int begin = (first + lane) * BLOCK;
                for (int i = begin; candidates[lane] && i < begin + BLOCK; ++i)
                    if (nearest[i] == most && (found < 0 || number[i] < number[found])) found = i;
            }
        }
        return found;
    }
};

}  // namespace

// Select `count` of `total` >= `count` >= 1 points (total, 3), integers within +-1024: the first
// point, then always the one that is farthest from those selected.
extern "C" __attribute__((visibility("default"))) void render_farthest(const float* points, int total, int count,
                                                                       int32_t* selected) {
    Sampler sampler(points, total);
    int latest = (int)(std::find(sampler.number.begin(), sampler.number.end(), 0) - sampler.number.begin());
    for (int i = 0; i < count; ++i) {
        selected[i] = sampler.number[latest];
        if (i + 1 == count) break;
        sampler.select(latest);
        latest = sampler.find();
    }
}
