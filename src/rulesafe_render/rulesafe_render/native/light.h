// Light that surfaces reflect: sun and point lights (GGX), one soft shadow, and a room's indirect
// light and reflections in closed form.
#pragma once

#include <algorithm>

#include "state.h"

constexpr float PI = 3.14159265f;
constexpr float SHADOW_BIAS = 0.004f;  // m along the surface normal

struct Surface {
    Vectors position, normal;  // world
    Vectors view;              // unit, towards the camera
    Vectors diffuse, specular;  // specular: reflectance at normal incidence
    Floats roughness, normal_view;  // normal_view: cosine between normal and view, positive
};

INLINE Floats smooth_step(Floats t) {
    t = clamp(t, 0, 1);
    return t * t * (3 - 2 * t);
}

INLINE Floats mix(Floats a, Floats b, Floats share) { return a + (b - a) * share; }

// What a bright room emits from a world direction: warm floor, pale walls, a ceiling with one large
// soft lamp, scaled by the ambient light. Rougher surfaces reflect it more blurred.
INLINE Vectors room_light(Vectors direction, Floats roughness, const float ambient[3]) {
    Floats blur = 0.08f + 0.9f * roughness, scale = 0.5f / blur;
    Floats wall = smooth_step((direction.z + 0.1f + blur) * scale);
    Floats ceiling = smooth_step((direction.z - 0.55f + blur) * scale);
    // (-0.35, 0.3, 0.9), unit length
    Floats lamp = direction.x * -0.3460f + direction.y * 0.2966f + direction.z * 0.8898f;
    Floats begin = 0.9f - 0.5f * blur, end = 0.9f + 0.12f * blur;
    Floats glow = (1 - 0.85f * roughness) * smooth_step((lamp - begin) / (end - begin));
    auto channel = [&](float floor, float walls, float above, float lamps, float light) {
        return (mix(mix(all(floor), all(walls), wall), all(above), ceiling) + lamps * glow) * light;
    };
    return {channel(0.42f, 0.82f, 1.05f, 2.4f, ambient[0]), channel(0.38f, 0.84f, 1.05f, 2.3f, ambient[1]),
            channel(0.34f, 0.88f, 1.08f, 2.1f, ambient[2])};
}

// Lambert and GGX, times the cosine of the incidence, for light of colour 1.
INLINE Vectors reflected(const Surface& s, Vectors light) {
    Floats cosine = dot(s.normal, light);
    if (!any(cosine > 0)) return Vectors{};
    Vectors halfway = unit(light + s.view);
    Floats nh = greatest(dot(s.normal, halfway), all(0)), vh = greatest(dot(s.view, halfway), all(0));
    Floats a = greatest(s.roughness * s.roughness, all(0.02f)), square = a * a;
    Floats bell = nh * nh * (square - 1) + 1;
    Floats masking = mix(2 * cosine * s.normal_view, cosine + s.normal_view, a);
    Floats lobe = least(square * 0.5f / (PI * bell * bell * masking), all(24));
    Floats grazing = 1 - vh, second = grazing * grazing, fifth = second * second * grazing;
    Floats weight = choose(cosine > 0, cosine, all(0));
    auto channel = [&](Floats diffuse, Floats specular) {
        return (diffuse * (1 / PI) + (specular + (1 - specular) * fifth) * lobe) * weight;
    };
    return {channel(s.diffuse.x, s.specular.x), channel(s.diffuse.y, s.specular.y),
            channel(s.diffuse.z, s.specular.z)};
}

// Reflectance of a rough surface under even light, a polynomial fit (Karis 2014).
INLINE Vectors even_reflectance(const Surface& s) {
    Floats r0 = 1 - s.roughness, r1 = 0.0425f - 0.0275f * s.roughness;
    Floats r2 = 1.04f - 0.572f * s.roughness, r3 = 0.022f * s.roughness - 0.04f;
    Floats a = least(r0 * r0, power_of_two(-9.28f * s.normal_view)) * r0 + r1;
    Floats scale = r2 - 1.04f * a, offset = r3 + 1.04f * a;
    return {s.specular.x * scale + offset, s.specular.y * scale + offset, s.specular.z * scale + offset};
}

// Place in the shadow map: column, row, negative depth.
INLINE Vectors in_shadow_map(const Scene& scene, const Surface& s) {
    const float* m = scene.shadow;
    Vectors p = s.position + s.normal * all(SHADOW_BIAS);
    return {p.x * m[0] + p.y * m[1] + p.z * m[2] + m[3], p.x * m[4] + p.y * m[5] + p.z * m[6] + m[7],
            -(p.x * m[8] + p.y * m[9] + p.z * m[10] + m[11])};
}

// The map's border is lit. Lookups read one texel before and two after the place.
INLINE float shadow_begin(int size) { return std::max(size * 0.01f - 0.5f, 1.f); }
INLINE Ints within_shadow_map(Vectors place, int size) {
    const float low = shadow_begin(size), high = std::min(size * 0.99f - 0.5f, size - 3.f);
    return (place.x >= low) & (place.x <= high) & (place.y >= low) & (place.y <= high);
}

// Visible fraction of the light with shadows, for the lanes `needed`: the mean over a 3x3 texel box
// that moves with the place, from 4x4 texels.
INLINE Floats visibility(const ShadowMap& map, int size, Vectors place, Ints needed) {
    const int blocks = size / SHADOW_BLOCK;
    const float low = shadow_begin(size);
    Ints inside = needed & within_shadow_map(place, size);
    Floats lit = all(1);
    if (!any(inside)) return lit;
    Vectors safe = choose(inside, place, Vectors{all(low), all(low), all(0)});
    Floats column = floor_of(safe.x), row = floor_of(safe.y);
    Ints x = to_ints(column), y = to_ints(row);
    Floats share_x = safe.x - column, share_y = safe.y - row;
    Ints block = (y >> SHADOW_SHIFT) * blocks + (x >> SHADOW_SHIFT);
    Ints dark = inside & (gather(map.farthest.data(), block) > safe.z);
    lit = choose(dark, all(0), lit);
    Ints unclear = inside & ~dark & (gather(map.nearest.data(), block) > safe.z);
    if (!any(unclear)) return lit;
    for (int i = 0; i < LANES; ++i) {
        if (!unclear[i]) continue;
        const float* texel = map.texels.data() + (size_t)(y[i] - 1) * size + x[i] - 1;
        Floats4 weight = {1 - share_x[i], 1, 1, share_x[i]}, sum = {};
        const float rows[4] = {1 - share_y[i], 1, 1, share_y[i]};
        for (int k = 0; k < 4; ++k) {
            Floats4 depth;
            std::memcpy(&depth, texel + (size_t)k * size, sizeof depth);
            Ints4 open = depth <= safe.z[i];
            sum += (Floats4)((Ints4)weight & open) * rows[k];
        }
        lit[i] = ((sum[0] + sum[2]) + (sum[1] + sum[3])) * (1 / 9.f);
    }
    return lit;
}
